/// Why a text is not the JSON form of a message.
public enum ProtobufJSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The text is not one JSON object (RFC 8259).
    case notAnObject
    /// The text has more than ``ProtobufDecoder/maximumSize`` bytes.
    case tooLarge(Int)
    /// A member's value is not of the field's type.
    case mismatch(field: String, expected: String)
    /// Two members are cases of the same oneof.
    case ambiguous(oneof: String)
    /// The values are more than a message may hold.
    case message(ProtobufError)

    public var description: String {
        switch self {
        case .notAnObject: "the text is not a JSON object"
        case .tooLarge(let size): "the text has \(size) bytes, more than \(ProtobufDecoder.maximumSize)"
        case .mismatch(let field, let expected): "the value of \(field) is not of type \(expected)"
        case .ambiguous(let oneof): "\(oneof) has more than one value"
        case .message(let error): error.description
        }
    }
}
