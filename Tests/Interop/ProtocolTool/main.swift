// Lets Tests/Interop/check_protocol.py see LiveKitProtocol from Python.
//
//     protocol-tool declarations    every declared message and enum, as JSON
//     protocol-tool recode          for each line "<message> <hex>" on stdin, a line with the same message decoded and
//                                   encoded again, in hex, or "! <why it does not decode>"

import Foundation
import LiveKitProtocol

func recode<Message: ProtobufMessage>(_ type: Message.Type, _ bytes: [UInt8]) -> String {
    do throws(ProtobufError) {
        return hex(try Message(serializedBytes: bytes).serializedBytes())
    } catch {
        return "! \(error)"
    }
}

switch CommandLine.arguments.dropFirst().first {
case "declarations":
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    print(String(decoding: try encoder.encode(Declarations()), as: UTF8.self))
case "recode":
    let types = Declarations.messageTypes()
    while let line = readLine() {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let type = types[String(words[0])], let bytes = bytes(hex: words[1]) else {
            print("? not a declared message and its bytes")
            continue
        }
        print(recode(type, bytes))
    }
default:
    FileHandle.standardError.write(Data("usage: protocol-tool declarations | recode\n".utf8))
    exit(2)
}
