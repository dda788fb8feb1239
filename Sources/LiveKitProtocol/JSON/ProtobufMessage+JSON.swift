import Foundation

// The JSON form of messages (ProtoJSON): what a LiveKit server speaks with a client that sends text frames.

extension ProtobufMessage {
    /// Decodes a message from JSON. Members go by their names in lowerCamelCase or as in the `.proto` file; unknown ones
    /// are ignored.
    public init(protoJSON text: String) throws(ProtobufJSONError) {
        let size = text.utf8.count
        guard size <= ProtobufDecoder.maximumSize else { throw .tooLarge(size) }
        guard let value = try? JSONDecoder().decode(JSONNode.self, from: Data(text.utf8)),
            case .object(let members) = value
        else { throw .notAnObject }
        var encoder = ProtobufEncoder()
        try encoder.message(Self.self, members)
        do throws(ProtobufError) {
            self = try Self(serializedBytes: encoder.bytes)
        } catch {
            throw .message(error)
        }
    }

    /// The message as one line of JSON, with names in lowerCamelCase and members in the order of their names.
    /// - Throws: ``ProtobufError`` for a message that is larger than what the decoder accepts.
    public func protoJSON() throws(ProtobufError) -> String {
        let members = try node().get()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(members)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private func node() -> Result<JSONNode, ProtobufError> {
        serializedBytes().withUnsafeBytes { bytes in
            do throws(ProtobufError) {
                var decoder = try ProtobufDecoder(bytes)
                return .success(try decoder.json(Self.self))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension ProtobufDeclaration {
    /// The name of the field in JSON: lowerCamelCase.
    var jsonName: String {
        var result = ""
        var startsWord = false
        for character in name {
            if character == "_" {
                startsWord = true
            } else {
                result += startsWord ? character.uppercased() : String(character)
                startsWord = false
            }
        }
        return result
    }
}
