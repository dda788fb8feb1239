/// `livekit.RpcRequest`
public struct RpcRequest: ProtobufMessage {
    public var id = ""
    public var method = ""
    public var payload = ""
    public var responseTimeoutMs: UInt32 = 0
    public var version: UInt32 = 0
    public var compressedPayload: [UInt8] = []

    public init() {}

    public static let protoMessageName = "livekit.RpcRequest"
    public static let fields: [ProtobufField<RpcRequest>] = [
        .string(1, "id", \.id),
        .string(2, "method", \.method),
        .string(3, "payload", \.payload),
        .uint32(4, "response_timeout_ms", \.responseTimeoutMs),
        .uint32(5, "version", \.version),
        .bytes(6, "compressed_payload", \.compressedPayload),
    ]
}

/// `livekit.RpcAck`
public struct RpcAck: ProtobufMessage {
    public var requestId = ""

    public init() {}

    public static let protoMessageName = "livekit.RpcAck"
    public static let fields: [ProtobufField<RpcAck>] = [
        .string(1, "request_id", \.requestId)
    ]
}

/// `livekit.RpcResponse`
public struct RpcResponse: ProtobufMessage {
    public var requestId = ""
    public var value: Value?

    public init() {}

    /// The cases of `value`; at most one is set.
    public enum Value: Equatable, Sendable {
        case payload(String)
        case error(RpcError)
        case compressedPayload([UInt8])
    }

    public static let protoMessageName = "livekit.RpcResponse"
    public static let fields: [ProtobufField<RpcResponse>] = [
        .string(1, "request_id", \.requestId),
        .string(2, "payload", oneof: "value", \.value, Value.payload) {
            if case .payload(let value) = $0 { value } else { nil }
        },
        .message(3, "error", oneof: "value", \.value, Value.error) {
            if case .error(let value) = $0 { value } else { nil }
        },
        .bytes(4, "compressed_payload", oneof: "value", \.value, Value.compressedPayload) {
            if case .compressedPayload(let value) = $0 { value } else { nil }
        },
    ]
}

/// `livekit.RpcError`
public struct RpcError: ProtobufMessage {
    public var code: UInt32 = 0
    public var message = ""
    public var data = ""

    public init() {}

    public static let protoMessageName = "livekit.RpcError"
    public static let fields: [ProtobufField<RpcError>] = [
        .uint32(1, "code", \.code),
        .string(2, "message", \.message),
        .string(3, "data", \.data),
    ]
}
