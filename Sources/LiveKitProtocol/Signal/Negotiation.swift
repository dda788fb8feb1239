/// `livekit.CandidateProtocol`
public enum CandidateProtocol: ProtobufEnum {
    case udp
    case tcp
    case tls
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.CandidateProtocol"
    public static let values: [ProtobufEnumValue<CandidateProtocol>] = [
        .init(0, "UDP", .udp),
        .init(1, "TCP", .tcp),
        .init(2, "TLS", .tls),
    ]
}

/// `livekit.SessionDescription`
public struct SessionDescription: ProtobufMessage {
    public var type = ""
    public var sdp = ""
    public var id: UInt32 = 0
    public var midToTrackId: [String: String] = [:]

    public init() {}

    public static let protoMessageName = "livekit.SessionDescription"
    public static let fields: [ProtobufField<SessionDescription>] = [
        .string(1, "type", \.type),
        .string(2, "sdp", \.sdp),
        .uint32(3, "id", \.id),
        .stringMap(4, "mid_to_track_id", \.midToTrackId),
    ]
}

/// `livekit.TrickleRequest`
public struct TrickleRequest: ProtobufMessage {
    public var candidateInit = ""
    public var target = SignalTarget.publisher
    public var final = false

    public init() {}

    public static let protoMessageName = "livekit.TrickleRequest"
    public static let fields: [ProtobufField<TrickleRequest>] = [
        .string(1, "candidateInit", \.candidateInit),
        .enumeration(2, "target", \.target),
        .bool(3, "final", \.final),
    ]
}

/// `livekit.MediaSectionsRequirement`
public struct MediaSectionsRequirement: ProtobufMessage {
    public var numAudios: UInt32 = 0
    public var numVideos: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.MediaSectionsRequirement"
    public static let fields: [ProtobufField<MediaSectionsRequirement>] = [
        .uint32(1, "num_audios", \.numAudios),
        .uint32(2, "num_videos", \.numVideos),
    ]
}

/// `livekit.SignalTarget`
public enum SignalTarget: ProtobufEnum {
    case publisher
    case subscriber
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.SignalTarget"
    public static let values: [ProtobufEnumValue<SignalTarget>] = [
        .init(0, "PUBLISHER", .publisher),
        .init(1, "SUBSCRIBER", .subscriber),
    ]
}
