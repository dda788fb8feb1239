/// `livekit.JoinResponse`
public struct JoinResponse: ProtobufMessage {
    public var room: Room?
    public var participant: ParticipantInfo?
    public var otherParticipants: [ParticipantInfo] = []
    public var serverVersion = ""
    public var iceServers: [ICEServer] = []
    public var subscriberPrimary = false
    public var alternativeUrl = ""
    public var clientConfiguration: ClientConfiguration?
    public var serverRegion = ""
    public var pingTimeout: Int32 = 0
    public var pingInterval: Int32 = 0
    public var serverInfo: ServerInfo?
    public var sifTrailer: [UInt8] = []
    public var enabledPublishCodecs: [Codec] = []
    public var fastPublish = false

    public init() {}

    public static let protoMessageName = "livekit.JoinResponse"
    public static let fields: [ProtobufField<JoinResponse>] = [
        .message(1, "room", \.room),
        .message(2, "participant", \.participant),
        .repeatedMessage(3, "other_participants", \.otherParticipants),
        .string(4, "server_version", \.serverVersion),
        .repeatedMessage(5, "ice_servers", \.iceServers),
        .bool(6, "subscriber_primary", \.subscriberPrimary),
        .string(7, "alternative_url", \.alternativeUrl),
        .message(8, "client_configuration", \.clientConfiguration),
        .string(9, "server_region", \.serverRegion),
        .int32(10, "ping_timeout", \.pingTimeout),
        .int32(11, "ping_interval", \.pingInterval),
        .message(12, "server_info", \.serverInfo),
        .bytes(13, "sif_trailer", \.sifTrailer),
        .repeatedMessage(14, "enabled_publish_codecs", \.enabledPublishCodecs),
        .bool(15, "fast_publish", \.fastPublish),
    ]
}

/// `livekit.ReconnectResponse`
public struct ReconnectResponse: ProtobufMessage {
    public var iceServers: [ICEServer] = []
    public var clientConfiguration: ClientConfiguration?
    public var serverInfo: ServerInfo?
    public var lastMessageSeq: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.ReconnectResponse"
    public static let fields: [ProtobufField<ReconnectResponse>] = [
        .repeatedMessage(1, "ice_servers", \.iceServers),
        .message(2, "client_configuration", \.clientConfiguration),
        .message(3, "server_info", \.serverInfo),
        .uint32(4, "last_message_seq", \.lastMessageSeq),
    ]
}

/// `livekit.ICEServer`
public struct ICEServer: ProtobufMessage {
    public var urls: [String] = []
    public var username = ""
    public var credential = ""

    public init() {}

    public static let protoMessageName = "livekit.ICEServer"
    public static let fields: [ProtobufField<ICEServer>] = [
        .repeatedString(1, "urls", \.urls),
        .string(2, "username", \.username),
        .string(3, "credential", \.credential),
    ]
}

/// `livekit.ClientConfiguration`
public struct ClientConfiguration: ProtobufMessage {
    public var video: VideoConfiguration?
    public var screen: VideoConfiguration?
    public var resumeConnection = ClientConfigSetting.unset
    public var disabledCodecs: DisabledCodecs?
    public var forceRelay = ClientConfigSetting.unset

    public init() {}

    public static let protoMessageName = "livekit.ClientConfiguration"
    public static let fields: [ProtobufField<ClientConfiguration>] = [
        .message(1, "video", \.video),
        .message(2, "screen", \.screen),
        .enumeration(3, "resume_connection", \.resumeConnection),
        .message(4, "disabled_codecs", \.disabledCodecs),
        .enumeration(5, "force_relay", \.forceRelay),
    ]
}

/// `livekit.VideoConfiguration`
public struct VideoConfiguration: ProtobufMessage {
    public var hardwareEncoder = ClientConfigSetting.unset

    public init() {}

    public static let protoMessageName = "livekit.VideoConfiguration"
    public static let fields: [ProtobufField<VideoConfiguration>] = [
        .enumeration(1, "hardware_encoder", \.hardwareEncoder)
    ]
}

/// `livekit.DisabledCodecs`
public struct DisabledCodecs: ProtobufMessage {
    public var codecs: [Codec] = []
    public var publish: [Codec] = []

    public init() {}

    public static let protoMessageName = "livekit.DisabledCodecs"
    public static let fields: [ProtobufField<DisabledCodecs>] = [
        .repeatedMessage(1, "codecs", \.codecs),
        .repeatedMessage(2, "publish", \.publish),
    ]
}

/// `livekit.WrappedJoinRequest`
public struct WrappedJoinRequest: ProtobufMessage {
    public var compression = WrappedJoinRequest.Compression.none
    public var joinRequest: [UInt8] = []

    public init() {}

    public static let protoMessageName = "livekit.WrappedJoinRequest"
    public static let fields: [ProtobufField<WrappedJoinRequest>] = [
        .enumeration(1, "compression", \.compression),
        .bytes(2, "join_request", \.joinRequest),
    ]

    /// `livekit.WrappedJoinRequest.Compression`
    public enum Compression: ProtobufEnum {
        case none
        case gzip
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.WrappedJoinRequest.Compression"
        public static let values: [ProtobufEnumValue<WrappedJoinRequest.Compression>] = [
            .init(0, "NONE", .none),
            .init(1, "GZIP", .gzip),
        ]
    }
}

/// `livekit.JoinRequest`
public struct JoinRequest: ProtobufMessage {
    public var clientInfo: ClientInfo?
    public var connectionSettings: ConnectionSettings?
    public var metadata = ""
    public var participantAttributes: [String: String] = [:]
    public var addTrackRequests: [AddTrackRequest] = []
    public var publisherOffer: SessionDescription?
    public var reconnect = false
    public var reconnectReason = ReconnectReason.unknown
    public var participantSid = ""
    public var syncState: SyncState?

    public init() {}

    public static let protoMessageName = "livekit.JoinRequest"
    public static let fields: [ProtobufField<JoinRequest>] = [
        .message(1, "client_info", \.clientInfo),
        .message(2, "connection_settings", \.connectionSettings),
        .string(3, "metadata", \.metadata),
        .stringMap(4, "participant_attributes", \.participantAttributes),
        .repeatedMessage(5, "add_track_requests", \.addTrackRequests),
        .message(6, "publisher_offer", \.publisherOffer),
        .bool(7, "reconnect", \.reconnect),
        .enumeration(8, "reconnect_reason", \.reconnectReason),
        .string(9, "participant_sid", \.participantSid),
        .message(10, "sync_state", \.syncState),
    ]
}

/// `livekit.ConnectionSettings`
public struct ConnectionSettings: ProtobufMessage {
    public var autoSubscribe = false
    public var adaptiveStream = false
    public var subscriberAllowPause: Bool?
    public var disableIceLite = false
    public var autoSubscribeDataTrack: Bool?

    public init() {}

    public static let protoMessageName = "livekit.ConnectionSettings"
    public static let fields: [ProtobufField<ConnectionSettings>] = [
        .bool(1, "auto_subscribe", \.autoSubscribe),
        .bool(2, "adaptive_stream", \.adaptiveStream),
        .optionalBool(3, "subscriber_allow_pause", \.subscriberAllowPause),
        .bool(4, "disable_ice_lite", \.disableIceLite),
        .optionalBool(5, "auto_subscribe_data_track", \.autoSubscribeDataTrack),
    ]
}

/// `livekit.ClientInfo`
public struct ClientInfo: ProtobufMessage {
    public var sdk = ClientInfo.SDK.unknown
    public var version = ""
    public var `protocol`: Int32 = 0
    public var os = ""
    public var osVersion = ""
    public var deviceModel = ""
    public var browser = ""
    public var browserVersion = ""
    public var address = ""
    public var network = ""
    public var otherSdks = ""
    public var clientProtocol: Int32 = 0
    public var capabilities: [ClientInfo.Capability] = []

    public init() {}

    public static let protoMessageName = "livekit.ClientInfo"
    public static let fields: [ProtobufField<ClientInfo>] = [
        .enumeration(1, "sdk", \.sdk),
        .string(2, "version", \.version),
        .int32(3, "protocol", \.`protocol`),
        .string(4, "os", \.os),
        .string(5, "os_version", \.osVersion),
        .string(6, "device_model", \.deviceModel),
        .string(7, "browser", \.browser),
        .string(8, "browser_version", \.browserVersion),
        .string(9, "address", \.address),
        .string(10, "network", \.network),
        .string(11, "other_sdks", \.otherSdks),
        .int32(12, "client_protocol", \.clientProtocol),
        .repeatedEnumeration(13, "capabilities", \.capabilities),
    ]

    /// `livekit.ClientInfo.SDK`
    public enum SDK: ProtobufEnum {
        case unknown
        case js
        case swift
        case android
        case flutter
        case go
        case unity
        case reactNative
        case rust
        case python
        case cpp
        case unityWeb
        case node
        case unreal
        case esp32
        case dotnet
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.ClientInfo.SDK"
        public static let values: [ProtobufEnumValue<ClientInfo.SDK>] = [
            .init(0, "UNKNOWN", .unknown),
            .init(1, "JS", .js),
            .init(2, "SWIFT", .swift),
            .init(3, "ANDROID", .android),
            .init(4, "FLUTTER", .flutter),
            .init(5, "GO", .go),
            .init(6, "UNITY", .unity),
            .init(7, "REACT_NATIVE", .reactNative),
            .init(8, "RUST", .rust),
            .init(9, "PYTHON", .python),
            .init(10, "CPP", .cpp),
            .init(11, "UNITY_WEB", .unityWeb),
            .init(12, "NODE", .node),
            .init(13, "UNREAL", .unreal),
            .init(14, "ESP32", .esp32),
            .init(15, "DOTNET", .dotnet),
        ]
    }

    /// `livekit.ClientInfo.Capability`
    public enum Capability: ProtobufEnum {
        case unused
        case packetTrailer
        case compressionDeflateRaw
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.ClientInfo.Capability"
        public static let values: [ProtobufEnumValue<ClientInfo.Capability>] = [
            .init(0, "CAP_UNUSED", .unused),
            .init(1, "CAP_PACKET_TRAILER", .packetTrailer),
            .init(2, "CAP_COMPRESSION_DEFLATE_RAW", .compressionDeflateRaw),
        ]
    }
}

/// `livekit.ServerInfo`
public struct ServerInfo: ProtobufMessage {
    public var edition = ServerInfo.Edition.standard
    public var version = ""
    public var `protocol`: Int32 = 0
    public var region = ""
    public var nodeId = ""
    public var debugInfo = ""
    public var agentProtocol: Int32 = 0

    public init() {}

    public static let protoMessageName = "livekit.ServerInfo"
    public static let fields: [ProtobufField<ServerInfo>] = [
        .enumeration(1, "edition", \.edition),
        .string(2, "version", \.version),
        .int32(3, "protocol", \.`protocol`),
        .string(4, "region", \.region),
        .string(5, "node_id", \.nodeId),
        .string(6, "debug_info", \.debugInfo),
        .int32(7, "agent_protocol", \.agentProtocol),
    ]

    /// `livekit.ServerInfo.Edition`
    public enum Edition: ProtobufEnum {
        case standard
        case cloud
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.ServerInfo.Edition"
        public static let values: [ProtobufEnumValue<ServerInfo.Edition>] = [
            .init(0, "Standard", .standard),
            .init(1, "Cloud", .cloud),
        ]
    }
}

/// `livekit.RegionSettings`
public struct RegionSettings: ProtobufMessage {
    public var regions: [RegionInfo] = []

    public init() {}

    public static let protoMessageName = "livekit.RegionSettings"
    public static let fields: [ProtobufField<RegionSettings>] = [
        .repeatedMessage(1, "regions", \.regions)
    ]
}

/// `livekit.RegionInfo`
public struct RegionInfo: ProtobufMessage {
    public var region = ""
    public var url = ""
    public var distance: Int64 = 0

    public init() {}

    public static let protoMessageName = "livekit.RegionInfo"
    public static let fields: [ProtobufField<RegionInfo>] = [
        .string(1, "region", \.region),
        .string(2, "url", \.url),
        .int64(3, "distance", \.distance),
    ]
}

/// `livekit.ClientConfigSetting`
public enum ClientConfigSetting: ProtobufEnum {
    case unset
    case disabled
    case enabled
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.ClientConfigSetting"
    public static let values: [ProtobufEnumValue<ClientConfigSetting>] = [
        .init(0, "UNSET", .unset),
        .init(1, "DISABLED", .disabled),
        .init(2, "ENABLED", .enabled),
    ]
}

/// `livekit.ReconnectReason`
public enum ReconnectReason: ProtobufEnum {
    case unknown
    case signalDisconnected
    case publisherFailed
    case subscriberFailed
    case switchCandidate
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.ReconnectReason"
    public static let values: [ProtobufEnumValue<ReconnectReason>] = [
        .init(0, "RR_UNKNOWN", .unknown),
        .init(1, "RR_SIGNAL_DISCONNECTED", .signalDisconnected),
        .init(2, "RR_PUBLISHER_FAILED", .publisherFailed),
        .init(3, "RR_SUBSCRIBER_FAILED", .subscriberFailed),
        .init(4, "RR_SWITCH_CANDIDATE", .switchCandidate),
    ]
}
