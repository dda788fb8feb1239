/// `livekit.Room`
public struct Room: ProtobufMessage {
    public var sid = ""
    public var name = ""
    public var emptyTimeout: UInt32 = 0
    public var maxParticipants: UInt32 = 0
    public var creationTime: Int64 = 0
    public var turnPassword = ""
    public var enabledCodecs: [Codec] = []
    public var metadata = ""
    public var numParticipants: UInt32 = 0
    public var activeRecording = false
    public var numPublishers: UInt32 = 0
    public var version: TimedVersion?
    public var departureTimeout: UInt32 = 0
    public var creationTimeMs: Int64 = 0

    public init() {}

    public static let protoMessageName = "livekit.Room"
    public static let fields: [ProtobufField<Room>] = [
        .string(1, "sid", \.sid),
        .string(2, "name", \.name),
        .uint32(3, "empty_timeout", \.emptyTimeout),
        .uint32(4, "max_participants", \.maxParticipants),
        .int64(5, "creation_time", \.creationTime),
        .string(6, "turn_password", \.turnPassword),
        .repeatedMessage(7, "enabled_codecs", \.enabledCodecs),
        .string(8, "metadata", \.metadata),
        .uint32(9, "num_participants", \.numParticipants),
        .bool(10, "active_recording", \.activeRecording),
        .uint32(11, "num_publishers", \.numPublishers),
        .message(13, "version", \.version),
        .uint32(14, "departure_timeout", \.departureTimeout),
        .int64(15, "creation_time_ms", \.creationTimeMs),
    ]
}

/// `livekit.Codec`
public struct Codec: ProtobufMessage {
    public var mime = ""
    public var fmtpLine = ""

    public init() {}

    public static let protoMessageName = "livekit.Codec"
    public static let fields: [ProtobufField<Codec>] = [
        .string(1, "mime", \.mime),
        .string(2, "fmtp_line", \.fmtpLine),
    ]
}
