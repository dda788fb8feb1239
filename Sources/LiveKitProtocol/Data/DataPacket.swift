/// `livekit.DataPacket`
public struct DataPacket: ProtobufMessage {
    public var kind = DataPacket.Kind.reliable
    public var value: Value?
    public var participantIdentity = ""
    public var destinationIdentities: [String] = []
    public var sequence: UInt32 = 0
    public var participantSid = ""

    public init() {}

    /// The cases of `value`; at most one is set.
    public enum Value: Equatable, Sendable {
        case user(UserPacket)
        case speaker(ActiveSpeakerUpdate)
        case sipDtmf(SipDTMF)
        case transcription(Transcription)
        case metrics(MetricsBatch)
        case chatMessage(ChatMessage)
        case rpcRequest(RpcRequest)
        case rpcAck(RpcAck)
        case rpcResponse(RpcResponse)
        case streamHeader(DataStream.Header)
        case streamChunk(DataStream.Chunk)
        case streamTrailer(DataStream.Trailer)
        case encryptedPacket(EncryptedPacket)
    }

    public static let protoMessageName = "livekit.DataPacket"
    public static let fields: [ProtobufField<DataPacket>] = [
        .enumeration(1, "kind", \.kind),
        .message(2, "user", oneof: "value", \.value, Value.user) {
            if case .user(let value) = $0 { value } else { nil }
        },
        .message(3, "speaker", oneof: "value", \.value, Value.speaker) {
            if case .speaker(let value) = $0 { value } else { nil }
        },
        .string(4, "participant_identity", \.participantIdentity),
        .repeatedString(5, "destination_identities", \.destinationIdentities),
        .message(6, "sip_dtmf", oneof: "value", \.value, Value.sipDtmf) {
            if case .sipDtmf(let value) = $0 { value } else { nil }
        },
        .message(7, "transcription", oneof: "value", \.value, Value.transcription) {
            if case .transcription(let value) = $0 { value } else { nil }
        },
        .message(8, "metrics", oneof: "value", \.value, Value.metrics) {
            if case .metrics(let value) = $0 { value } else { nil }
        },
        .message(9, "chat_message", oneof: "value", \.value, Value.chatMessage) {
            if case .chatMessage(let value) = $0 { value } else { nil }
        },
        .message(10, "rpc_request", oneof: "value", \.value, Value.rpcRequest) {
            if case .rpcRequest(let value) = $0 { value } else { nil }
        },
        .message(11, "rpc_ack", oneof: "value", \.value, Value.rpcAck) {
            if case .rpcAck(let value) = $0 { value } else { nil }
        },
        .message(12, "rpc_response", oneof: "value", \.value, Value.rpcResponse) {
            if case .rpcResponse(let value) = $0 { value } else { nil }
        },
        .message(13, "stream_header", oneof: "value", \.value, Value.streamHeader) {
            if case .streamHeader(let value) = $0 { value } else { nil }
        },
        .message(14, "stream_chunk", oneof: "value", \.value, Value.streamChunk) {
            if case .streamChunk(let value) = $0 { value } else { nil }
        },
        .message(15, "stream_trailer", oneof: "value", \.value, Value.streamTrailer) {
            if case .streamTrailer(let value) = $0 { value } else { nil }
        },
        .uint32(16, "sequence", \.sequence),
        .string(17, "participant_sid", \.participantSid),
        .message(18, "encrypted_packet", oneof: "value", \.value, Value.encryptedPacket) {
            if case .encryptedPacket(let value) = $0 { value } else { nil }
        },
    ]

    /// `livekit.DataPacket.Kind`
    public enum Kind: ProtobufEnum {
        case reliable
        case lossy
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.DataPacket.Kind"
        public static let values: [ProtobufEnumValue<DataPacket.Kind>] = [
            .init(0, "RELIABLE", .reliable),
            .init(1, "LOSSY", .lossy),
        ]
    }
}

/// `livekit.UserPacket`
public struct UserPacket: ProtobufMessage {
    public var participantSid = ""
    public var payload: [UInt8] = []
    public var destinationSids: [String] = []
    public var topic: String?
    public var participantIdentity = ""
    public var destinationIdentities: [String] = []
    public var id: String?
    public var startTime: UInt64?
    public var endTime: UInt64?
    public var nonce: [UInt8] = []

    public init() {}

    public static let protoMessageName = "livekit.UserPacket"
    public static let fields: [ProtobufField<UserPacket>] = [
        .string(1, "participant_sid", \.participantSid),
        .bytes(2, "payload", \.payload),
        .repeatedString(3, "destination_sids", \.destinationSids),
        .optionalString(4, "topic", \.topic),
        .string(5, "participant_identity", \.participantIdentity),
        .repeatedString(6, "destination_identities", \.destinationIdentities),
        .optionalString(8, "id", \.id),
        .optionalUint64(9, "start_time", \.startTime),
        .optionalUint64(10, "end_time", \.endTime),
        .bytes(11, "nonce", \.nonce),
    ]
}

/// `livekit.ActiveSpeakerUpdate`
public struct ActiveSpeakerUpdate: ProtobufMessage {
    public var speakers: [SpeakerInfo] = []

    public init() {}

    public static let protoMessageName = "livekit.ActiveSpeakerUpdate"
    public static let fields: [ProtobufField<ActiveSpeakerUpdate>] = [
        .repeatedMessage(1, "speakers", \.speakers)
    ]
}

/// `livekit.SpeakerInfo`
public struct SpeakerInfo: ProtobufMessage {
    public var sid = ""
    public var level: Float = 0
    public var active = false

    public init() {}

    public static let protoMessageName = "livekit.SpeakerInfo"
    public static let fields: [ProtobufField<SpeakerInfo>] = [
        .string(1, "sid", \.sid),
        .float(2, "level", \.level),
        .bool(3, "active", \.active),
    ]
}

/// `livekit.SipDTMF`
public struct SipDTMF: ProtobufMessage {
    public var code: UInt32 = 0
    public var digit = ""

    public init() {}

    public static let protoMessageName = "livekit.SipDTMF"
    public static let fields: [ProtobufField<SipDTMF>] = [
        .uint32(3, "code", \.code),
        .string(4, "digit", \.digit),
    ]
}

/// `livekit.ChatMessage`
public struct ChatMessage: ProtobufMessage {
    public var id = ""
    public var timestamp: Int64 = 0
    public var editTimestamp: Int64?
    public var message = ""
    public var deleted = false
    public var generated = false

    public init() {}

    public static let protoMessageName = "livekit.ChatMessage"
    public static let fields: [ProtobufField<ChatMessage>] = [
        .string(1, "id", \.id),
        .int64(2, "timestamp", \.timestamp),
        .optionalInt64(3, "edit_timestamp", \.editTimestamp),
        .string(4, "message", \.message),
        .bool(5, "deleted", \.deleted),
        .bool(6, "generated", \.generated),
    ]
}

/// `livekit.EncryptedPacket`
public struct EncryptedPacket: ProtobufMessage {
    public var encryptionType = Encryption.TypeEnum.none
    public var iv: [UInt8] = []
    public var keyIndex: UInt32 = 0
    public var encryptedValue: [UInt8] = []

    public init() {}

    public static let protoMessageName = "livekit.EncryptedPacket"
    public static let fields: [ProtobufField<EncryptedPacket>] = [
        .enumeration(1, "encryption_type", \.encryptionType),
        .bytes(2, "iv", \.iv),
        .uint32(3, "key_index", \.keyIndex),
        .bytes(4, "encrypted_value", \.encryptedValue),
    ]
}

/// `livekit.EncryptedPacketPayload`
public struct EncryptedPacketPayload: ProtobufMessage {
    public var value: Value?

    public init() {}

    /// The cases of `value`; at most one is set.
    public enum Value: Equatable, Sendable {
        case user(UserPacket)
        case chatMessage(ChatMessage)
        case rpcRequest(RpcRequest)
        case rpcAck(RpcAck)
        case rpcResponse(RpcResponse)
        case streamHeader(DataStream.Header)
        case streamChunk(DataStream.Chunk)
        case streamTrailer(DataStream.Trailer)
    }

    public static let protoMessageName = "livekit.EncryptedPacketPayload"
    public static let fields: [ProtobufField<EncryptedPacketPayload>] = [
        .message(1, "user", oneof: "value", \.value, Value.user) {
            if case .user(let value) = $0 { value } else { nil }
        },
        .message(3, "chat_message", oneof: "value", \.value, Value.chatMessage) {
            if case .chatMessage(let value) = $0 { value } else { nil }
        },
        .message(4, "rpc_request", oneof: "value", \.value, Value.rpcRequest) {
            if case .rpcRequest(let value) = $0 { value } else { nil }
        },
        .message(5, "rpc_ack", oneof: "value", \.value, Value.rpcAck) {
            if case .rpcAck(let value) = $0 { value } else { nil }
        },
        .message(6, "rpc_response", oneof: "value", \.value, Value.rpcResponse) {
            if case .rpcResponse(let value) = $0 { value } else { nil }
        },
        .message(7, "stream_header", oneof: "value", \.value, Value.streamHeader) {
            if case .streamHeader(let value) = $0 { value } else { nil }
        },
        .message(8, "stream_chunk", oneof: "value", \.value, Value.streamChunk) {
            if case .streamChunk(let value) = $0 { value } else { nil }
        },
        .message(9, "stream_trailer", oneof: "value", \.value, Value.streamTrailer) {
            if case .streamTrailer(let value) = $0 { value } else { nil }
        },
    ]
}

extension DataPacket {
    /// - Parameter destinations: identities; none means everybody else.
    public init(_ value: Value, to destinations: [String] = []) {
        self.init()
        self.value = value
        destinationIdentities = destinations
    }
}
