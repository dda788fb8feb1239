/// Why bytes are not a message. None of these is fatal to a connection: the frame is dropped and reported.
public enum ProtobufError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes end inside a field.
    case truncated
    /// A varint has more than ten bytes.
    case malformedVarint
    /// A tag with field number 0, a wire type that does not exist, or an unbalanced group.
    case malformedTag
    /// A string is not UTF-8, which proto3 forbids.
    case invalidUTF8
    /// Messages nest deeper than ``ProtobufDecoder/maximumDepth``.
    case tooDeep
    /// The message is larger than ``ProtobufDecoder/maximumSize`` bytes.
    case tooLarge(Int)
    /// Repeated fields hold more than ``ProtobufDecoder/maximumElements`` elements.
    case tooManyElements

    public var description: String {
        switch self {
        case .truncated: "the message ends inside a field"
        case .malformedVarint: "a varint has more than ten bytes"
        case .malformedTag: "a field tag is malformed"
        case .invalidUTF8: "a string is not UTF-8"
        case .tooDeep: "messages nest deeper than \(ProtobufDecoder.maximumDepth) levels"
        case .tooLarge(let size): "the message has \(size) bytes, more than \(ProtobufDecoder.maximumSize)"
        case .tooManyElements: "the message has more than \(ProtobufDecoder.maximumElements) repeated elements"
        }
    }
}
