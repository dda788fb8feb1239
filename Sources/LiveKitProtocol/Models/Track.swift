/// `livekit.TrackInfo`
public struct TrackInfo: ProtobufMessage {
    public var sid = ""
    public var type = TrackType.audio
    public var name = ""
    public var muted = false
    public var width: UInt32 = 0
    public var height: UInt32 = 0
    public var simulcast = false
    public var disableDtx = false
    public var source = TrackSource.unknown
    public var layers: [VideoLayer] = []
    public var mimeType = ""
    public var mid = ""
    public var codecs: [SimulcastCodecInfo] = []
    public var stereo = false
    public var disableRed = false
    public var encryption = Encryption.TypeEnum.none
    public var stream = ""
    public var version: TimedVersion?
    public var audioFeatures: [AudioTrackFeature] = []
    public var backupCodecPolicy = BackupCodecPolicy.preferRegression
    public var packetTrailerFeatures: [PacketTrailerFeature] = []

    public init() {}

    public static let protoMessageName = "livekit.TrackInfo"
    public static let fields: [ProtobufField<TrackInfo>] = [
        .string(1, "sid", \.sid),
        .enumeration(2, "type", \.type),
        .string(3, "name", \.name),
        .bool(4, "muted", \.muted),
        .uint32(5, "width", \.width),
        .uint32(6, "height", \.height),
        .bool(7, "simulcast", \.simulcast),
        .bool(8, "disable_dtx", \.disableDtx),
        .enumeration(9, "source", \.source),
        .repeatedMessage(10, "layers", \.layers),
        .string(11, "mime_type", \.mimeType),
        .string(12, "mid", \.mid),
        .repeatedMessage(13, "codecs", \.codecs),
        .bool(14, "stereo", \.stereo),
        .bool(15, "disable_red", \.disableRed),
        .enumeration(16, "encryption", \.encryption),
        .string(17, "stream", \.stream),
        .message(18, "version", \.version),
        .repeatedEnumeration(19, "audio_features", \.audioFeatures),
        .enumeration(20, "backup_codec_policy", \.backupCodecPolicy),
        .repeatedEnumeration(21, "packet_trailer_features", \.packetTrailerFeatures),
    ]
}

/// `livekit.SimulcastCodecInfo`
public struct SimulcastCodecInfo: ProtobufMessage {
    public var mimeType = ""
    public var mid = ""
    public var cid = ""
    public var layers: [VideoLayer] = []
    public var videoLayerMode = VideoLayer.Mode.modeUnused
    public var sdpCid = ""

    public init() {}

    public static let protoMessageName = "livekit.SimulcastCodecInfo"
    public static let fields: [ProtobufField<SimulcastCodecInfo>] = [
        .string(1, "mime_type", \.mimeType),
        .string(2, "mid", \.mid),
        .string(3, "cid", \.cid),
        .repeatedMessage(4, "layers", \.layers),
        .enumeration(5, "video_layer_mode", \.videoLayerMode),
        .string(6, "sdp_cid", \.sdpCid),
    ]
}

/// `livekit.VideoLayer`
public struct VideoLayer: ProtobufMessage {
    public var quality = VideoQuality.low
    public var width: UInt32 = 0
    public var height: UInt32 = 0
    public var bitrate: UInt32 = 0
    public var ssrc: UInt32 = 0
    public var spatialLayer: Int32 = 0
    public var rid = ""
    public var repairSsrc: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.VideoLayer"
    public static let fields: [ProtobufField<VideoLayer>] = [
        .enumeration(1, "quality", \.quality),
        .uint32(2, "width", \.width),
        .uint32(3, "height", \.height),
        .uint32(4, "bitrate", \.bitrate),
        .uint32(5, "ssrc", \.ssrc),
        .int32(6, "spatial_layer", \.spatialLayer),
        .string(7, "rid", \.rid),
        .uint32(8, "repair_ssrc", \.repairSsrc),
    ]

    /// `livekit.VideoLayer.Mode`
    public enum Mode: ProtobufEnum {
        case modeUnused
        case oneSpatialLayerPerStream
        case multipleSpatialLayersPerStream
        case oneSpatialLayerPerStreamIncompleteRtcpSr
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.VideoLayer.Mode"
        public static let values: [ProtobufEnumValue<VideoLayer.Mode>] = [
            .init(0, "MODE_UNUSED", .modeUnused),
            .init(1, "ONE_SPATIAL_LAYER_PER_STREAM", .oneSpatialLayerPerStream),
            .init(2, "MULTIPLE_SPATIAL_LAYERS_PER_STREAM", .multipleSpatialLayersPerStream),
            .init(3, "ONE_SPATIAL_LAYER_PER_STREAM_INCOMPLETE_RTCP_SR", .oneSpatialLayerPerStreamIncompleteRtcpSr),
        ]
    }
}

/// `livekit.VideoQuality`
public enum VideoQuality: ProtobufEnum {
    case low
    case medium
    case high
    case off
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.VideoQuality"
    public static let values: [ProtobufEnumValue<VideoQuality>] = [
        .init(0, "LOW", .low),
        .init(1, "MEDIUM", .medium),
        .init(2, "HIGH", .high),
        .init(3, "OFF", .off),
    ]
}

/// `livekit.TrackType`
public enum TrackType: ProtobufEnum {
    case audio
    case video
    case data
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.TrackType"
    public static let values: [ProtobufEnumValue<TrackType>] = [
        .init(0, "AUDIO", .audio),
        .init(1, "VIDEO", .video),
        .init(2, "DATA", .data),
    ]
}

/// `livekit.TrackSource`
public enum TrackSource: ProtobufEnum {
    case unknown
    case camera
    case microphone
    case screenShare
    case screenShareAudio
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.TrackSource"
    public static let values: [ProtobufEnumValue<TrackSource>] = [
        .init(0, "UNKNOWN", .unknown),
        .init(1, "CAMERA", .camera),
        .init(2, "MICROPHONE", .microphone),
        .init(3, "SCREEN_SHARE", .screenShare),
        .init(4, "SCREEN_SHARE_AUDIO", .screenShareAudio),
    ]
}

/// `livekit.AudioTrackFeature`
public enum AudioTrackFeature: ProtobufEnum {
    case stereo
    case noDtx
    case autoGainControl
    case echoCancellation
    case noiseSuppression
    case enhancedNoiseCancellation
    case preconnectBuffer
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.AudioTrackFeature"
    public static let values: [ProtobufEnumValue<AudioTrackFeature>] = [
        .init(0, "TF_STEREO", .stereo),
        .init(1, "TF_NO_DTX", .noDtx),
        .init(2, "TF_AUTO_GAIN_CONTROL", .autoGainControl),
        .init(3, "TF_ECHO_CANCELLATION", .echoCancellation),
        .init(4, "TF_NOISE_SUPPRESSION", .noiseSuppression),
        .init(5, "TF_ENHANCED_NOISE_CANCELLATION", .enhancedNoiseCancellation),
        .init(6, "TF_PRECONNECT_BUFFER", .preconnectBuffer),
    ]
}

/// `livekit.BackupCodecPolicy`
public enum BackupCodecPolicy: ProtobufEnum {
    case preferRegression
    case simulcast
    case regression
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.BackupCodecPolicy"
    public static let values: [ProtobufEnumValue<BackupCodecPolicy>] = [
        .init(0, "PREFER_REGRESSION", .preferRegression),
        .init(1, "SIMULCAST", .simulcast),
        .init(2, "REGRESSION", .regression),
    ]
}

/// `livekit.Encryption`
public struct Encryption: ProtobufMessage {
    public init() {}

    public static let protoMessageName = "livekit.Encryption"
    public static let fields: [ProtobufField<Encryption>] = []

    /// `livekit.Encryption.Type`
    public enum TypeEnum: ProtobufEnum {
        case none
        case gcm
        case custom
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.Encryption.Type"
        public static let values: [ProtobufEnumValue<Encryption.TypeEnum>] = [
            .init(0, "NONE", .none),
            .init(1, "GCM", .gcm),
            .init(2, "CUSTOM", .custom),
        ]
    }
}

/// `livekit.TimedVersion`
public struct TimedVersion: ProtobufMessage {
    public var unixMicro: Int64 = 0
    public var ticks: Int32 = 0

    public init() {}

    public static let protoMessageName = "livekit.TimedVersion"
    public static let fields: [ProtobufField<TimedVersion>] = [
        .int64(1, "unix_micro", \.unixMicro),
        .int32(2, "ticks", \.ticks),
    ]
}

/// `livekit.PacketTrailerFeature`
public enum PacketTrailerFeature: ProtobufEnum {
    case userTimestamp
    case frameId
    case userData
    /// A value this program does not know.
    case unrecognized(Int32)

    public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
    public static let protoEnumName = "livekit.PacketTrailerFeature"
    public static let values: [ProtobufEnumValue<PacketTrailerFeature>] = [
        .init(0, "PTF_USER_TIMESTAMP", .userTimestamp),
        .init(1, "PTF_FRAME_ID", .frameId),
        .init(2, "PTF_USER_DATA", .userData),
    ]
}
