/// `livekit.ParticipantInfo`
public struct ParticipantInfo: ProtobufMessage {
    public var sid = ""
    public var identity = ""
    public var state = ParticipantInfo.State.joining
    public var tracks: [TrackInfo] = []
    public var metadata = ""
    public var joinedAt: Int64 = 0
    public var name = ""
    public var version: UInt32 = 0
    public var permission: ParticipantPermission?
    public var region = ""
    public var isPublisher = false
    public var kind = ParticipantInfo.Kind.standard
    public var attributes: [String: String] = [:]
    public var disconnectReason = DisconnectReason.unknownReason
    public var joinedAtMs: Int64 = 0
    public var kindDetails: [ParticipantInfo.KindDetail] = []
    public var dataTracks: [DataTrackInfo] = []
    public var clientProtocol: Int32 = 0
    public var capabilities: [ClientInfo.Capability] = []

    public init() {}

    public static let protoMessageName = "livekit.ParticipantInfo"
    public static let fields: [ProtobufField<ParticipantInfo>] = [
        .string(1, "sid", \.sid),
        .string(2, "identity", \.identity),
        .enumeration(3, "state", \.state),
        .repeatedMessage(4, "tracks", \.tracks),
        .string(5, "metadata", \.metadata),
        .int64(6, "joined_at", \.joinedAt),
        .string(9, "name", \.name),
        .uint32(10, "version", \.version),
        .message(11, "permission", \.permission),
        .string(12, "region", \.region),
        .bool(13, "is_publisher", \.isPublisher),
        .enumeration(14, "kind", \.kind),
        .stringMap(15, "attributes", \.attributes),
        .enumeration(16, "disconnect_reason", \.disconnectReason),
        .int64(17, "joined_at_ms", \.joinedAtMs),
        .repeatedEnumeration(18, "kind_details", \.kindDetails),
        .repeatedMessage(19, "data_tracks", \.dataTracks),
        .int32(20, "client_protocol", \.clientProtocol),
        .repeatedEnumeration(21, "capabilities", \.capabilities),
    ]

    /// `livekit.ParticipantInfo.State`
    public enum State: ProtobufEnum {
        case joining
        case joined
        case active
        case disconnected
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.ParticipantInfo.State"
        public static let values: [ProtobufEnumValue<ParticipantInfo.State>] = [
            .init(0, "JOINING", .joining),
            .init(1, "JOINED", .joined),
            .init(2, "ACTIVE", .active),
            .init(3, "DISCONNECTED", .disconnected),
        ]
    }

    /// `livekit.ParticipantInfo.Kind`
    public enum Kind: ProtobufEnum {
        case standard
        case ingress
        case egress
        case sip
        case agent
        case connector
        case bridge
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.ParticipantInfo.Kind"
        public static let values: [ProtobufEnumValue<ParticipantInfo.Kind>] = [
            .init(0, "STANDARD", .standard),
            .init(1, "INGRESS", .ingress),
            .init(2, "EGRESS", .egress),
            .init(3, "SIP", .sip),
            .init(4, "AGENT", .agent),
            .init(7, "CONNECTOR", .connector),
            .init(8, "BRIDGE", .bridge),
        ]
    }

    /// `livekit.ParticipantInfo.KindDetail`
    public enum KindDetail: ProtobufEnum {
        case cloudAgent
        case forwarded
        case connectorWhatsapp
        case connectorTwilio
        case bridgeRtsp
        case simulation
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.ParticipantInfo.KindDetail"
        public static let values: [ProtobufEnumValue<ParticipantInfo.KindDetail>] = [
            .init(0, "CLOUD_AGENT", .cloudAgent),
            .init(1, "FORWARDED", .forwarded),
            .init(2, "CONNECTOR_WHATSAPP", .connectorWhatsapp),
            .init(3, "CONNECTOR_TWILIO", .connectorTwilio),
            .init(4, "BRIDGE_RTSP", .bridgeRtsp),
            .init(5, "SIMULATION", .simulation),
        ]
    }
}

/// `livekit.ParticipantPermission`
public struct ParticipantPermission: ProtobufMessage {
    public var canSubscribe = false
    public var canPublish = false
    public var canPublishData = false
    public var hidden = false
    public var recorder = false
    public var canPublishSources: [TrackSource] = []
    public var canUpdateMetadata = false
    public var agent = false
    public var canSubscribeMetrics = false
    public var canManageAgentSession = false

    public init() {}

    public static let protoMessageName = "livekit.ParticipantPermission"
    public static let fields: [ProtobufField<ParticipantPermission>] = [
        .bool(1, "can_subscribe", \.canSubscribe),
        .bool(2, "can_publish", \.canPublish),
        .bool(3, "can_publish_data", \.canPublishData),
        .bool(7, "hidden", \.hidden),
        .bool(8, "recorder", \.recorder),
        .repeatedEnumeration(9, "can_publish_sources", \.canPublishSources),
        .bool(10, "can_update_metadata", \.canUpdateMetadata),
        .bool(11, "agent", \.agent),
        .bool(12, "can_subscribe_metrics", \.canSubscribeMetrics),
        .bool(13, "can_manage_agent_session", \.canManageAgentSession),
    ]
}

/// `livekit.DisconnectReason`
public enum DisconnectReason: ProtobufEnum {
    case unknownReason
    case clientInitiated
    case duplicateIdentity
    case serverShutdown
    case participantRemoved
    case roomDeleted
    case stateMismatch
    case joinFailure
    case migration
    case signalClose
    case roomClosed
    case userUnavailable
    case userRejected
    case sipTrunkFailure
    case connectionTimeout
    case mediaFailure
    case agentError
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.DisconnectReason"
    public static let values: [ProtobufEnumValue<DisconnectReason>] = [
        .init(0, "UNKNOWN_REASON", .unknownReason),
        .init(1, "CLIENT_INITIATED", .clientInitiated),
        .init(2, "DUPLICATE_IDENTITY", .duplicateIdentity),
        .init(3, "SERVER_SHUTDOWN", .serverShutdown),
        .init(4, "PARTICIPANT_REMOVED", .participantRemoved),
        .init(5, "ROOM_DELETED", .roomDeleted),
        .init(6, "STATE_MISMATCH", .stateMismatch),
        .init(7, "JOIN_FAILURE", .joinFailure),
        .init(8, "MIGRATION", .migration),
        .init(9, "SIGNAL_CLOSE", .signalClose),
        .init(10, "ROOM_CLOSED", .roomClosed),
        .init(11, "USER_UNAVAILABLE", .userUnavailable),
        .init(12, "USER_REJECTED", .userRejected),
        .init(13, "SIP_TRUNK_FAILURE", .sipTrunkFailure),
        .init(14, "CONNECTION_TIMEOUT", .connectionTimeout),
        .init(15, "MEDIA_FAILURE", .mediaFailure),
        .init(16, "AGENT_ERROR", .agentError),
    ]
}

/// `livekit.ConnectionQuality`
public enum ConnectionQuality: ProtobufEnum {
    case poor
    case good
    case excellent
    case lost
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.ConnectionQuality"
    public static let values: [ProtobufEnumValue<ConnectionQuality>] = [
        .init(0, "POOR", .poor),
        .init(1, "GOOD", .good),
        .init(2, "EXCELLENT", .excellent),
        .init(3, "LOST", .lost),
    ]
}
