// Lets Tests/Interop/check_protocol.py see LiveKitProtocol from Python.
//
//     protocol-tool declarations    every declared message and enum, as JSON
//     protocol-tool recode          for each line "<message> <hex>" on stdin, a line with the same message decoded and
//                                   encoded again, in hex, or "! <why it does not decode>"
//     protocol-tool to-json         the same, answered with the message's JSON form
//     protocol-tool from-json       for each line "<message> <hex of a JSON text>", the message that it stands for

import Foundation
import LiveKitProtocol

/// Answers each line "<message> <hex>" with what `answer` makes of the bytes, or with why it cannot.
func serve(_ answer: (any ProtobufMessage.Type, [UInt8]) throws -> String) {
    let types = Declarations.messageTypes()
    while let line = readLine() {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let type = types[String(words[0])], let bytes = bytes(hex: words[1]) else {
            print("? not a declared message and its bytes")
            continue
        }
        do {
            print(try answer(type, bytes))
        } catch {
            print("! \(error)")
        }
    }
}

switch CommandLine.arguments.dropFirst().first {
case "declarations":
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    print(String(decoding: try encoder.encode(Declarations()), as: UTF8.self))
case "recode":
    serve { type, bytes in hex(try type.init(serializedBytes: bytes).serializedBytes()) }
case "to-json":
    serve { type, bytes in try type.init(serializedBytes: bytes).protoJSON() }
case "from-json":
    serve { type, bytes in hex(try type.init(protoJSON: String(decoding: bytes, as: UTF8.self)).serializedBytes()) }
default:
    FileHandle.standardError.write(Data("usage: protocol-tool declarations | recode | to-json | from-json\n".utf8))
    exit(2)
}
