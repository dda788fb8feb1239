/// `livekit.Ping`
public struct Ping: ProtobufMessage {
    public var timestamp: Int64 = 0
    public var rtt: Int64 = 0

    public init() {}

    public static let protoMessageName = "livekit.Ping"
    public static let fields: [ProtobufField<Ping>] = [
        .int64(1, "timestamp", \.timestamp),
        .int64(2, "rtt", \.rtt),
    ]
}

/// `livekit.Pong`
public struct Pong: ProtobufMessage {
    public var lastPingTimestamp: Int64 = 0
    public var timestamp: Int64 = 0

    public init() {}

    public static let protoMessageName = "livekit.Pong"
    public static let fields: [ProtobufField<Pong>] = [
        .int64(1, "last_ping_timestamp", \.lastPingTimestamp),
        .int64(2, "timestamp", \.timestamp),
    ]
}

/// `livekit.LeaveRequest`
public struct LeaveRequest: ProtobufMessage {
    public var canReconnect = false
    public var reason = DisconnectReason.unknownReason
    public var action = LeaveRequest.Action.disconnect
    public var regions: RegionSettings?

    public init() {}

    public static let protoMessageName = "livekit.LeaveRequest"
    public static let fields: [ProtobufField<LeaveRequest>] = [
        .bool(1, "can_reconnect", \.canReconnect),
        .enumeration(2, "reason", \.reason),
        .enumeration(3, "action", \.action),
        .message(4, "regions", \.regions),
    ]

    /// `livekit.LeaveRequest.Action`
    public enum Action: ProtobufEnum {
        case disconnect
        case resume
        case reconnect
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.LeaveRequest.Action"
        public static let values: [ProtobufEnumValue<LeaveRequest.Action>] = [
            .init(0, "DISCONNECT", .disconnect),
            .init(1, "RESUME", .resume),
            .init(2, "RECONNECT", .reconnect),
        ]
    }
}

/// `livekit.SyncState`
public struct SyncState: ProtobufMessage {
    public var answer: SessionDescription?
    public var subscription: UpdateSubscription?
    public var publishTracks: [TrackPublishedResponse] = []
    public var dataChannels: [DataChannelInfo] = []
    public var offer: SessionDescription?
    public var trackSidsDisabled: [String] = []
    public var datachannelReceiveStates: [DataChannelReceiveState] = []
    public var publishDataTracks: [PublishDataTrackResponse] = []
    public var dataSubscription: UpdateDataSubscription?

    public init() {}

    public static let protoMessageName = "livekit.SyncState"
    public static let fields: [ProtobufField<SyncState>] = [
        .message(1, "answer", \.answer),
        .message(2, "subscription", \.subscription),
        .repeatedMessage(3, "publish_tracks", \.publishTracks),
        .repeatedMessage(4, "data_channels", \.dataChannels),
        .message(5, "offer", \.offer),
        .repeatedString(6, "track_sids_disabled", \.trackSidsDisabled),
        .repeatedMessage(7, "datachannel_receive_states", \.datachannelReceiveStates),
        .repeatedMessage(8, "publish_data_tracks", \.publishDataTracks),
        .message(9, "data_subscription", \.dataSubscription),
    ]
}

/// `livekit.DataChannelInfo`
public struct DataChannelInfo: ProtobufMessage {
    public var label = ""
    public var id: UInt32 = 0
    public var target = SignalTarget.publisher

    public init() {}

    public static let protoMessageName = "livekit.DataChannelInfo"
    public static let fields: [ProtobufField<DataChannelInfo>] = [
        .string(1, "label", \.label),
        .uint32(2, "id", \.id),
        .enumeration(3, "target", \.target),
    ]
}

/// `livekit.DataChannelReceiveState`
public struct DataChannelReceiveState: ProtobufMessage {
    public var publisherSid = ""
    public var lastSeq: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.DataChannelReceiveState"
    public static let fields: [ProtobufField<DataChannelReceiveState>] = [
        .string(1, "publisher_sid", \.publisherSid),
        .uint32(2, "last_seq", \.lastSeq),
    ]
}

/// `livekit.SimulateScenario`
public struct SimulateScenario: ProtobufMessage {
    public var scenario: Scenario?

    public init() {}

    /// The cases of `scenario`; at most one is set.
    public enum Scenario: Equatable, Sendable {
        case speakerUpdate(Int32)
        case nodeFailure(Bool)
        case migration(Bool)
        case serverLeave(Bool)
        case switchCandidateProtocol(CandidateProtocol)
        case subscriberBandwidth(Int64)
        case disconnectSignalOnResume(Bool)
        case disconnectSignalOnResumeNoMessages(Bool)
        case leaveRequestFullReconnect(Bool)
    }

    public static let protoMessageName = "livekit.SimulateScenario"
    public static let fields: [ProtobufField<SimulateScenario>] = [
        .int32(1, "speaker_update", oneof: "scenario", \.scenario, Scenario.speakerUpdate) {
            if case .speakerUpdate(let value) = $0 { value } else { nil }
        },
        .bool(2, "node_failure", oneof: "scenario", \.scenario, Scenario.nodeFailure) {
            if case .nodeFailure(let value) = $0 { value } else { nil }
        },
        .bool(3, "migration", oneof: "scenario", \.scenario, Scenario.migration) {
            if case .migration(let value) = $0 { value } else { nil }
        },
        .bool(4, "server_leave", oneof: "scenario", \.scenario, Scenario.serverLeave) {
            if case .serverLeave(let value) = $0 { value } else { nil }
        },
        .enumeration(5, "switch_candidate_protocol", oneof: "scenario", \.scenario, Scenario.switchCandidateProtocol) {
            if case .switchCandidateProtocol(let value) = $0 { value } else { nil }
        },
        .int64(6, "subscriber_bandwidth", oneof: "scenario", \.scenario, Scenario.subscriberBandwidth) {
            if case .subscriberBandwidth(let value) = $0 { value } else { nil }
        },
        .bool(7, "disconnect_signal_on_resume", oneof: "scenario", \.scenario, Scenario.disconnectSignalOnResume) {
            if case .disconnectSignalOnResume(let value) = $0 { value } else { nil }
        },
        .bool(
            8, "disconnect_signal_on_resume_no_messages", oneof: "scenario", \.scenario,
            Scenario.disconnectSignalOnResumeNoMessages
        ) { if case .disconnectSignalOnResumeNoMessages(let value) = $0 { value } else { nil } },
        .bool(9, "leave_request_full_reconnect", oneof: "scenario", \.scenario, Scenario.leaveRequestFullReconnect) {
            if case .leaveRequestFullReconnect(let value) = $0 { value } else { nil }
        },
    ]
}

/// `livekit.ParticipantUpdate`
public struct ParticipantUpdate: ProtobufMessage {
    public var participants: [ParticipantInfo] = []

    public init() {}

    public static let protoMessageName = "livekit.ParticipantUpdate"
    public static let fields: [ProtobufField<ParticipantUpdate>] = [
        .repeatedMessage(1, "participants", \.participants)
    ]
}

/// `livekit.SpeakersChanged`
public struct SpeakersChanged: ProtobufMessage {
    public var speakers: [SpeakerInfo] = []

    public init() {}

    public static let protoMessageName = "livekit.SpeakersChanged"
    public static let fields: [ProtobufField<SpeakersChanged>] = [
        .repeatedMessage(1, "speakers", \.speakers)
    ]
}

/// `livekit.RoomUpdate`
public struct RoomUpdate: ProtobufMessage {
    public var room: Room?

    public init() {}

    public static let protoMessageName = "livekit.RoomUpdate"
    public static let fields: [ProtobufField<RoomUpdate>] = [
        .message(1, "room", \.room)
    ]
}

/// `livekit.ConnectionQualityUpdate`
public struct ConnectionQualityUpdate: ProtobufMessage {
    public var updates: [ConnectionQualityInfo] = []

    public init() {}

    public static let protoMessageName = "livekit.ConnectionQualityUpdate"
    public static let fields: [ProtobufField<ConnectionQualityUpdate>] = [
        .repeatedMessage(1, "updates", \.updates)
    ]
}

/// `livekit.ConnectionQualityInfo`
public struct ConnectionQualityInfo: ProtobufMessage {
    public var participantSid = ""
    public var quality = ConnectionQuality.poor
    public var score: Float = 0

    public init() {}

    public static let protoMessageName = "livekit.ConnectionQualityInfo"
    public static let fields: [ProtobufField<ConnectionQualityInfo>] = [
        .string(1, "participant_sid", \.participantSid),
        .enumeration(2, "quality", \.quality),
        .float(3, "score", \.score),
    ]
}

/// `livekit.RoomMovedResponse`
public struct RoomMovedResponse: ProtobufMessage {
    public var room: Room?
    public var token = ""
    public var participant: ParticipantInfo?
    public var otherParticipants: [ParticipantInfo] = []

    public init() {}

    public static let protoMessageName = "livekit.RoomMovedResponse"
    public static let fields: [ProtobufField<RoomMovedResponse>] = [
        .message(1, "room", \.room),
        .string(2, "token", \.token),
        .message(3, "participant", \.participant),
        .repeatedMessage(4, "other_participants", \.otherParticipants),
    ]
}

/// `livekit.UpdateParticipantMetadata`
public struct UpdateParticipantMetadata: ProtobufMessage {
    public var metadata = ""
    public var name = ""
    public var attributes: [String: String] = [:]
    public var requestId: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.UpdateParticipantMetadata"
    public static let fields: [ProtobufField<UpdateParticipantMetadata>] = [
        .string(1, "metadata", \.metadata),
        .string(2, "name", \.name),
        .stringMap(3, "attributes", \.attributes),
        .uint32(4, "request_id", \.requestId),
    ]
}
