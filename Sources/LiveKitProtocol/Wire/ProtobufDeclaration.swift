/// What a message declares about one of its fields, without the Swift property behind it: enough to print the
/// protocol, to check it against its `.proto` files and to translate messages to and from JSON.
public struct ProtobufDeclaration: Sendable {
    /// How often the field may occur.
    public enum Label: String, Sendable {
        case singular, optional, repeated, map
    }

    public let number: Int
    /// The name in the `.proto` file, in snake_case.
    public let name: String
    /// The type of the value; of one element, if the field is repeated; of the values, if it is a map.
    public let type: ProtobufType
    public let label: Label
    /// The type of a map's keys.
    public let keyType: ProtobufType?
    /// The oneof that the field is a case of.
    public let oneof: String?
}

/// The type of a field.
public enum ProtobufType: Sendable {
    case float, int32, int64, uint32, uint64, bool, string, bytes
    case enumeration(any ProtobufEnum.Type)
    case message(any ProtobufMessage.Type)

    /// The name as written in a `.proto` file, with the package.
    public var name: String {
        switch self {
        case .float: "float"
        case .int32: "int32"
        case .int64: "int64"
        case .uint32: "uint32"
        case .uint64: "uint64"
        case .bool: "bool"
        case .string: "string"
        case .bytes: "bytes"
        case .enumeration(let type): type.protoEnumName
        case .message(let type): type.protoMessageName
        }
    }

    var wireType: ProtobufDecoder.WireType {
        switch self {
        case .int32, .int64, .uint32, .uint64, .bool, .enumeration: .varint
        case .float: .fixed32
        case .string, .bytes, .message: .lengthDelimited
        }
    }

    /// Whether repeated values may come packed into one length-delimited value.
    var isPackable: Bool { wireType != .lengthDelimited }
}

extension ProtobufMessage {
    /// The declared fields, in the order of their numbers.
    public static var declarations: [ProtobufDeclaration] { fields.map(\.declaration) }
}
