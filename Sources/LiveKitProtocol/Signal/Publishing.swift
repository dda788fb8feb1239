/// `livekit.AddTrackRequest`
public struct AddTrackRequest: ProtobufMessage {
    public var cid = ""
    public var name = ""
    public var type = TrackType.audio
    public var width: UInt32 = 0
    public var height: UInt32 = 0
    public var muted = false
    public var disableDtx = false
    public var source = TrackSource.unknown
    public var layers: [VideoLayer] = []
    public var simulcastCodecs: [SimulcastCodec] = []
    public var sid = ""
    public var stereo = false
    public var disableRed = false
    public var encryption = Encryption.TypeEnum.none
    public var stream = ""
    public var backupCodecPolicy = BackupCodecPolicy.preferRegression
    public var audioFeatures: [AudioTrackFeature] = []
    public var packetTrailerFeatures: [PacketTrailerFeature] = []

    public init() {}

    public static let protoMessageName = "livekit.AddTrackRequest"
    public static let fields: [ProtobufField<AddTrackRequest>] = [
        .string(1, "cid", \.cid),
        .string(2, "name", \.name),
        .enumeration(3, "type", \.type),
        .uint32(4, "width", \.width),
        .uint32(5, "height", \.height),
        .bool(6, "muted", \.muted),
        .bool(7, "disable_dtx", \.disableDtx),
        .enumeration(8, "source", \.source),
        .repeatedMessage(9, "layers", \.layers),
        .repeatedMessage(10, "simulcast_codecs", \.simulcastCodecs),
        .string(11, "sid", \.sid),
        .bool(12, "stereo", \.stereo),
        .bool(13, "disable_red", \.disableRed),
        .enumeration(14, "encryption", \.encryption),
        .string(15, "stream", \.stream),
        .enumeration(16, "backup_codec_policy", \.backupCodecPolicy),
        .repeatedEnumeration(17, "audio_features", \.audioFeatures),
        .repeatedEnumeration(18, "packet_trailer_features", \.packetTrailerFeatures),
    ]
}

/// `livekit.TrackPublishedResponse`
public struct TrackPublishedResponse: ProtobufMessage {
    public var cid = ""
    public var track: TrackInfo?

    public init() {}

    public static let protoMessageName = "livekit.TrackPublishedResponse"
    public static let fields: [ProtobufField<TrackPublishedResponse>] = [
        .string(1, "cid", \.cid),
        .message(2, "track", \.track),
    ]
}

/// `livekit.TrackUnpublishedResponse`
public struct TrackUnpublishedResponse: ProtobufMessage {
    public var trackSid = ""

    public init() {}

    public static let protoMessageName = "livekit.TrackUnpublishedResponse"
    public static let fields: [ProtobufField<TrackUnpublishedResponse>] = [
        .string(1, "track_sid", \.trackSid)
    ]
}

/// `livekit.MuteTrackRequest`
public struct MuteTrackRequest: ProtobufMessage {
    public var sid = ""
    public var muted = false

    public init() {}

    public static let protoMessageName = "livekit.MuteTrackRequest"
    public static let fields: [ProtobufField<MuteTrackRequest>] = [
        .string(1, "sid", \.sid),
        .bool(2, "muted", \.muted),
    ]
}

/// `livekit.TrackSubscribed`
public struct TrackSubscribed: ProtobufMessage {
    public var trackSid = ""

    public init() {}

    public static let protoMessageName = "livekit.TrackSubscribed"
    public static let fields: [ProtobufField<TrackSubscribed>] = [
        .string(1, "track_sid", \.trackSid)
    ]
}

/// `livekit.UpdateLocalAudioTrack`
public struct UpdateLocalAudioTrack: ProtobufMessage {
    public var trackSid = ""
    public var features: [AudioTrackFeature] = []

    public init() {}

    public static let protoMessageName = "livekit.UpdateLocalAudioTrack"
    public static let fields: [ProtobufField<UpdateLocalAudioTrack>] = [
        .string(1, "track_sid", \.trackSid),
        .repeatedEnumeration(2, "features", \.features),
    ]
}

/// `livekit.UpdateLocalVideoTrack`
public struct UpdateLocalVideoTrack: ProtobufMessage {
    public var trackSid = ""
    public var width: UInt32 = 0
    public var height: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.UpdateLocalVideoTrack"
    public static let fields: [ProtobufField<UpdateLocalVideoTrack>] = [
        .string(1, "track_sid", \.trackSid),
        .uint32(2, "width", \.width),
        .uint32(3, "height", \.height),
    ]
}

/// `livekit.UpdateVideoLayers`
public struct UpdateVideoLayers: ProtobufMessage {
    public var trackSid = ""
    public var layers: [VideoLayer] = []

    public init() {}

    public static let protoMessageName = "livekit.UpdateVideoLayers"
    public static let fields: [ProtobufField<UpdateVideoLayers>] = [
        .string(1, "track_sid", \.trackSid),
        .repeatedMessage(2, "layers", \.layers),
    ]
}

/// `livekit.SubscribedAudioCodecUpdate`
public struct SubscribedAudioCodecUpdate: ProtobufMessage {
    public var trackSid = ""
    public var subscribedAudioCodecs: [SubscribedAudioCodec] = []

    public init() {}

    public static let protoMessageName = "livekit.SubscribedAudioCodecUpdate"
    public static let fields: [ProtobufField<SubscribedAudioCodecUpdate>] = [
        .string(1, "track_sid", \.trackSid),
        .repeatedMessage(2, "subscribed_audio_codecs", \.subscribedAudioCodecs),
    ]
}

/// `livekit.SubscribedAudioCodec`
public struct SubscribedAudioCodec: ProtobufMessage {
    public var codec = ""
    public var enabled = false

    public init() {}

    public static let protoMessageName = "livekit.SubscribedAudioCodec"
    public static let fields: [ProtobufField<SubscribedAudioCodec>] = [
        .string(1, "codec", \.codec),
        .bool(2, "enabled", \.enabled),
    ]
}

/// `livekit.SubscribedQualityUpdate`
public struct SubscribedQualityUpdate: ProtobufMessage {
    public var trackSid = ""
    public var subscribedQualities: [SubscribedQuality] = []
    public var subscribedCodecs: [SubscribedCodec] = []

    public init() {}

    public static let protoMessageName = "livekit.SubscribedQualityUpdate"
    public static let fields: [ProtobufField<SubscribedQualityUpdate>] = [
        .string(1, "track_sid", \.trackSid),
        .repeatedMessage(2, "subscribed_qualities", \.subscribedQualities),
        .repeatedMessage(3, "subscribed_codecs", \.subscribedCodecs),
    ]
}

/// `livekit.SubscribedQuality`
public struct SubscribedQuality: ProtobufMessage {
    public var quality = VideoQuality.low
    public var enabled = false

    public init() {}

    public static let protoMessageName = "livekit.SubscribedQuality"
    public static let fields: [ProtobufField<SubscribedQuality>] = [
        .enumeration(1, "quality", \.quality),
        .bool(2, "enabled", \.enabled),
    ]
}

/// `livekit.SubscribedCodec`
public struct SubscribedCodec: ProtobufMessage {
    public var codec = ""
    public var qualities: [SubscribedQuality] = []

    public init() {}

    public static let protoMessageName = "livekit.SubscribedCodec"
    public static let fields: [ProtobufField<SubscribedCodec>] = [
        .string(1, "codec", \.codec),
        .repeatedMessage(2, "qualities", \.qualities),
    ]
}

/// `livekit.SimulcastCodec`
public struct SimulcastCodec: ProtobufMessage {
    public var codec = ""
    public var cid = ""
    public var layers: [VideoLayer] = []
    public var videoLayerMode = VideoLayer.Mode.modeUnused

    public init() {}

    public static let protoMessageName = "livekit.SimulcastCodec"
    public static let fields: [ProtobufField<SimulcastCodec>] = [
        .string(1, "codec", \.codec),
        .string(2, "cid", \.cid),
        .repeatedMessage(4, "layers", \.layers),
        .enumeration(5, "video_layer_mode", \.videoLayerMode),
    ]
}

/// `livekit.RequestResponse`
public struct RequestResponse: ProtobufMessage {
    public var requestId: UInt32 = 0
    public var reason = RequestResponse.Reason.ok
    public var message = ""
    public var request: Request?

    public init() {}

    /// The cases of `request`; at most one is set.
    public enum Request: Equatable, Sendable {
        case trickle(TrickleRequest)
        case addTrack(AddTrackRequest)
        case mute(MuteTrackRequest)
        case updateMetadata(UpdateParticipantMetadata)
        case updateAudioTrack(UpdateLocalAudioTrack)
        case updateVideoTrack(UpdateLocalVideoTrack)
        case publishDataTrack(PublishDataTrackRequest)
        case unpublishDataTrack(UnpublishDataTrackRequest)
    }

    public static let protoMessageName = "livekit.RequestResponse"
    public static let fields: [ProtobufField<RequestResponse>] = [
        .uint32(1, "request_id", \.requestId),
        .enumeration(2, "reason", \.reason),
        .string(3, "message", \.message),
        .message(4, "trickle", oneof: "request", \.request, Request.trickle) {
            if case .trickle(let value) = $0 { value } else { nil }
        },
        .message(5, "add_track", oneof: "request", \.request, Request.addTrack) {
            if case .addTrack(let value) = $0 { value } else { nil }
        },
        .message(6, "mute", oneof: "request", \.request, Request.mute) {
            if case .mute(let value) = $0 { value } else { nil }
        },
        .message(7, "update_metadata", oneof: "request", \.request, Request.updateMetadata) {
            if case .updateMetadata(let value) = $0 { value } else { nil }
        },
        .message(8, "update_audio_track", oneof: "request", \.request, Request.updateAudioTrack) {
            if case .updateAudioTrack(let value) = $0 { value } else { nil }
        },
        .message(9, "update_video_track", oneof: "request", \.request, Request.updateVideoTrack) {
            if case .updateVideoTrack(let value) = $0 { value } else { nil }
        },
        .message(10, "publish_data_track", oneof: "request", \.request, Request.publishDataTrack) {
            if case .publishDataTrack(let value) = $0 { value } else { nil }
        },
        .message(11, "unpublish_data_track", oneof: "request", \.request, Request.unpublishDataTrack) {
            if case .unpublishDataTrack(let value) = $0 { value } else { nil }
        },
    ]

    /// `livekit.RequestResponse.Reason`
    public enum Reason: ProtobufEnum {
        case ok
        case notFound
        case notAllowed
        case limitExceeded
        case queued
        case unsupportedType
        case unclassifiedError
        case invalidHandle
        case invalidName
        case duplicateHandle
        case duplicateName
        case invalidRequest
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.RequestResponse.Reason"
        public static let values: [ProtobufEnumValue<RequestResponse.Reason>] = [
            .init(0, "OK", .ok),
            .init(1, "NOT_FOUND", .notFound),
            .init(2, "NOT_ALLOWED", .notAllowed),
            .init(3, "LIMIT_EXCEEDED", .limitExceeded),
            .init(4, "QUEUED", .queued),
            .init(5, "UNSUPPORTED_TYPE", .unsupportedType),
            .init(6, "UNCLASSIFIED_ERROR", .unclassifiedError),
            .init(7, "INVALID_HANDLE", .invalidHandle),
            .init(8, "INVALID_NAME", .invalidName),
            .init(9, "DUPLICATE_HANDLE", .duplicateHandle),
            .init(10, "DUPLICATE_NAME", .duplicateName),
            .init(11, "INVALID_REQUEST", .invalidRequest),
        ]
    }
}
