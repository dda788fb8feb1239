/// `livekit.DataStream`
public struct DataStream: ProtobufMessage {
    public init() {}

    public static let protoMessageName = "livekit.DataStream"
    public static let fields: [ProtobufField<DataStream>] = []

    /// `livekit.DataStream.OperationType`
    public enum OperationType: ProtobufEnum {
        case create
        case update
        case delete
        case reaction
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.DataStream.OperationType"
        public static let values: [ProtobufEnumValue<DataStream.OperationType>] = [
            .init(0, "CREATE", .create),
            .init(1, "UPDATE", .update),
            .init(2, "DELETE", .delete),
            .init(3, "REACTION", .reaction),
        ]
    }

    /// `livekit.DataStream.CompressionType`
    public enum CompressionType: ProtobufEnum {
        case none
        case deflateRaw
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.DataStream.CompressionType"
        public static let values: [ProtobufEnumValue<DataStream.CompressionType>] = [
            .init(0, "NONE", .none),
            .init(1, "DEFLATE_RAW", .deflateRaw),
        ]
    }

    /// `livekit.DataStream.TextHeader`
    public struct TextHeader: ProtobufMessage {
        public var operationType = DataStream.OperationType.create
        public var version: Int32 = 0
        public var replyToStreamId = ""
        public var attachedStreamIds: [String] = []
        public var generated = false

        public init() {}

        public static let protoMessageName = "livekit.DataStream.TextHeader"
        public static let fields: [ProtobufField<DataStream.TextHeader>] = [
            .enumeration(1, "operation_type", \.operationType),
            .int32(2, "version", \.version),
            .string(3, "reply_to_stream_id", \.replyToStreamId),
            .repeatedString(4, "attached_stream_ids", \.attachedStreamIds),
            .bool(5, "generated", \.generated),
        ]
    }

    /// `livekit.DataStream.ByteHeader`
    public struct ByteHeader: ProtobufMessage {
        public var name = ""

        public init() {}

        public static let protoMessageName = "livekit.DataStream.ByteHeader"
        public static let fields: [ProtobufField<DataStream.ByteHeader>] = [
            .string(1, "name", \.name)
        ]
    }

    /// `livekit.DataStream.Header`
    public struct Header: ProtobufMessage {
        public var streamId = ""
        public var timestamp: Int64 = 0
        public var topic = ""
        public var mimeType = ""
        public var totalLength: UInt64?
        public var encryptionType = Encryption.TypeEnum.none
        public var attributes: [String: String] = [:]
        public var contentHeader: ContentHeader?
        public var inlineContent: [UInt8]?
        public var compression = DataStream.CompressionType.none

        public init() {}

        /// The cases of `content_header`; at most one is set.
        public enum ContentHeader: Equatable, Sendable {
            case textHeader(DataStream.TextHeader)
            case byteHeader(DataStream.ByteHeader)
        }

        public static let protoMessageName = "livekit.DataStream.Header"
        public static let fields: [ProtobufField<DataStream.Header>] = [
            .string(1, "stream_id", \.streamId),
            .int64(2, "timestamp", \.timestamp),
            .string(3, "topic", \.topic),
            .string(4, "mime_type", \.mimeType),
            .optionalUint64(5, "total_length", \.totalLength),
            .enumeration(7, "encryption_type", \.encryptionType),
            .stringMap(8, "attributes", \.attributes),
            .message(9, "text_header", oneof: "content_header", \.contentHeader, ContentHeader.textHeader) {
                if case .textHeader(let value) = $0 { value } else { nil }
            },
            .message(10, "byte_header", oneof: "content_header", \.contentHeader, ContentHeader.byteHeader) {
                if case .byteHeader(let value) = $0 { value } else { nil }
            },
            .optionalBytes(11, "inline_content", \.inlineContent),
            .enumeration(12, "compression", \.compression),
        ]
    }

    /// `livekit.DataStream.Chunk`
    public struct Chunk: ProtobufMessage {
        public var streamId = ""
        public var chunkIndex: UInt64 = 0
        public var content: [UInt8] = []
        public var version: Int32 = 0
        public var iv: [UInt8]?

        public init() {}

        public static let protoMessageName = "livekit.DataStream.Chunk"
        public static let fields: [ProtobufField<DataStream.Chunk>] = [
            .string(1, "stream_id", \.streamId),
            .uint64(2, "chunk_index", \.chunkIndex),
            .bytes(3, "content", \.content),
            .int32(4, "version", \.version),
            .optionalBytes(5, "iv", \.iv),
        ]
    }

    /// `livekit.DataStream.Trailer`
    public struct Trailer: ProtobufMessage {
        public var streamId = ""
        public var reason = ""
        public var attributes: [String: String] = [:]

        public init() {}

        public static let protoMessageName = "livekit.DataStream.Trailer"
        public static let fields: [ProtobufField<DataStream.Trailer>] = [
            .string(1, "stream_id", \.streamId),
            .string(2, "reason", \.reason),
            .stringMap(3, "attributes", \.attributes),
        ]
    }
}
