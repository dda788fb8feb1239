/// `livekit.UpdateSubscription`
public struct UpdateSubscription: ProtobufMessage {
    public var trackSids: [String] = []
    public var subscribe = false
    public var participantTracks: [ParticipantTracks] = []

    public init() {}

    public static let protoMessageName = "livekit.UpdateSubscription"
    public static let fields: [ProtobufField<UpdateSubscription>] = [
        .repeatedString(1, "track_sids", \.trackSids),
        .bool(2, "subscribe", \.subscribe),
        .repeatedMessage(3, "participant_tracks", \.participantTracks),
    ]
}

/// `livekit.ParticipantTracks`
public struct ParticipantTracks: ProtobufMessage {
    public var participantSid = ""
    public var trackSids: [String] = []

    public init() {}

    public static let protoMessageName = "livekit.ParticipantTracks"
    public static let fields: [ProtobufField<ParticipantTracks>] = [
        .string(1, "participant_sid", \.participantSid),
        .repeatedString(2, "track_sids", \.trackSids),
    ]
}

/// `livekit.UpdateTrackSettings`
public struct UpdateTrackSettings: ProtobufMessage {
    public var trackSids: [String] = []
    public var disabled = false
    public var quality = VideoQuality.low
    public var width: UInt32 = 0
    public var height: UInt32 = 0
    public var fps: UInt32 = 0
    public var priority: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.UpdateTrackSettings"
    public static let fields: [ProtobufField<UpdateTrackSettings>] = [
        .repeatedString(1, "track_sids", \.trackSids),
        .bool(3, "disabled", \.disabled),
        .enumeration(4, "quality", \.quality),
        .uint32(5, "width", \.width),
        .uint32(6, "height", \.height),
        .uint32(7, "fps", \.fps),
        .uint32(8, "priority", \.priority),
    ]
}

/// `livekit.SubscriptionPermission`
public struct SubscriptionPermission: ProtobufMessage {
    public var allParticipants = false
    public var trackPermissions: [TrackPermission] = []

    public init() {}

    public static let protoMessageName = "livekit.SubscriptionPermission"
    public static let fields: [ProtobufField<SubscriptionPermission>] = [
        .bool(1, "all_participants", \.allParticipants),
        .repeatedMessage(2, "track_permissions", \.trackPermissions),
    ]
}

/// `livekit.TrackPermission`
public struct TrackPermission: ProtobufMessage {
    public var participantSid = ""
    public var allTracks = false
    public var trackSids: [String] = []
    public var participantIdentity = ""

    public init() {}

    public static let protoMessageName = "livekit.TrackPermission"
    public static let fields: [ProtobufField<TrackPermission>] = [
        .string(1, "participant_sid", \.participantSid),
        .bool(2, "all_tracks", \.allTracks),
        .repeatedString(3, "track_sids", \.trackSids),
        .string(4, "participant_identity", \.participantIdentity),
    ]
}

/// `livekit.SubscriptionPermissionUpdate`
public struct SubscriptionPermissionUpdate: ProtobufMessage {
    public var participantSid = ""
    public var trackSid = ""
    public var allowed = false

    public init() {}

    public static let protoMessageName = "livekit.SubscriptionPermissionUpdate"
    public static let fields: [ProtobufField<SubscriptionPermissionUpdate>] = [
        .string(1, "participant_sid", \.participantSid),
        .string(2, "track_sid", \.trackSid),
        .bool(3, "allowed", \.allowed),
    ]
}

/// `livekit.SubscriptionResponse`
public struct SubscriptionResponse: ProtobufMessage {
    public var trackSid = ""
    public var err = SubscriptionError.unknown

    public init() {}

    public static let protoMessageName = "livekit.SubscriptionResponse"
    public static let fields: [ProtobufField<SubscriptionResponse>] = [
        .string(1, "track_sid", \.trackSid),
        .enumeration(2, "err", \.err),
    ]
}

/// `livekit.SubscriptionError`
public enum SubscriptionError: ProtobufEnum {
    case unknown
    case codecUnsupported
    case trackNotfound
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.SubscriptionError"
    public static let values: [ProtobufEnumValue<SubscriptionError>] = [
        .init(0, "SE_UNKNOWN", .unknown),
        .init(1, "SE_CODEC_UNSUPPORTED", .codecUnsupported),
        .init(2, "SE_TRACK_NOTFOUND", .trackNotfound),
    ]
}

/// `livekit.StreamStateUpdate`
public struct StreamStateUpdate: ProtobufMessage {
    public var streamStates: [StreamStateInfo] = []

    public init() {}

    public static let protoMessageName = "livekit.StreamStateUpdate"
    public static let fields: [ProtobufField<StreamStateUpdate>] = [
        .repeatedMessage(1, "stream_states", \.streamStates)
    ]
}

/// `livekit.StreamStateInfo`
public struct StreamStateInfo: ProtobufMessage {
    public var participantSid = ""
    public var trackSid = ""
    public var state = StreamState.active

    public init() {}

    public static let protoMessageName = "livekit.StreamStateInfo"
    public static let fields: [ProtobufField<StreamStateInfo>] = [
        .string(1, "participant_sid", \.participantSid),
        .string(2, "track_sid", \.trackSid),
        .enumeration(3, "state", \.state),
    ]
}

/// `livekit.StreamState`
public enum StreamState: ProtobufEnum {
    case active
    case paused
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.StreamState"
    public static let values: [ProtobufEnumValue<StreamState>] = [
        .init(0, "ACTIVE", .active),
        .init(1, "PAUSED", .paused),
    ]
}
