/// `livekit.Transcription`
public struct Transcription: ProtobufMessage {
    public var transcribedParticipantIdentity = ""
    public var trackId = ""
    public var segments: [TranscriptionSegment] = []

    public init() {}

    public static let protoMessageName = "livekit.Transcription"
    public static let fields: [ProtobufField<Transcription>] = [
        .string(2, "transcribed_participant_identity", \.transcribedParticipantIdentity),
        .string(3, "track_id", \.trackId),
        .repeatedMessage(4, "segments", \.segments),
    ]
}

/// `livekit.TranscriptionSegment`
public struct TranscriptionSegment: ProtobufMessage {
    public var id = ""
    public var text = ""
    public var startTime: UInt64 = 0
    public var endTime: UInt64 = 0
    public var final = false
    public var language = ""

    public init() {}

    public static let protoMessageName = "livekit.TranscriptionSegment"
    public static let fields: [ProtobufField<TranscriptionSegment>] = [
        .string(1, "id", \.id),
        .string(2, "text", \.text),
        .uint64(3, "start_time", \.startTime),
        .uint64(4, "end_time", \.endTime),
        .bool(5, "final", \.final),
        .string(6, "language", \.language),
    ]
}
