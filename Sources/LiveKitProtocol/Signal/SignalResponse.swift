/// `livekit.SignalResponse`
public struct SignalResponse: ProtobufMessage {
    public var message: Message?

    public init() {}

    /// The cases of `message`; at most one is set.
    public enum Message: Equatable, Sendable {
        case join(JoinResponse)
        case answer(SessionDescription)
        case offer(SessionDescription)
        case trickle(TrickleRequest)
        case update(ParticipantUpdate)
        case trackPublished(TrackPublishedResponse)
        case leave(LeaveRequest)
        case mute(MuteTrackRequest)
        case speakersChanged(SpeakersChanged)
        case roomUpdate(RoomUpdate)
        case connectionQuality(ConnectionQualityUpdate)
        case streamStateUpdate(StreamStateUpdate)
        case subscribedQualityUpdate(SubscribedQualityUpdate)
        case subscriptionPermissionUpdate(SubscriptionPermissionUpdate)
        case refreshToken(String)
        case trackUnpublished(TrackUnpublishedResponse)
        case pong(Int64)
        case reconnect(ReconnectResponse)
        case pongResp(Pong)
        case subscriptionResponse(SubscriptionResponse)
        case requestResponse(RequestResponse)
        case trackSubscribed(TrackSubscribed)
        case roomMoved(RoomMovedResponse)
        case mediaSectionsRequirement(MediaSectionsRequirement)
        case subscribedAudioCodecUpdate(SubscribedAudioCodecUpdate)
        case publishDataTrackResponse(PublishDataTrackResponse)
        case unpublishDataTrackResponse(UnpublishDataTrackResponse)
        case dataTrackSubscriberHandles(DataTrackSubscriberHandles)
        case storeDataBlobResponse(StoreDataBlobResponse)
        case getDataBlobResponse(GetDataBlobResponse)
    }

    public static let protoMessageName = "livekit.SignalResponse"
    public static let fields: [ProtobufField<SignalResponse>] = [
        .message(1, "join", oneof: "message", \.message, Message.join) {
            if case .join(let value) = $0 { value } else { nil }
        },
        .message(2, "answer", oneof: "message", \.message, Message.answer) {
            if case .answer(let value) = $0 { value } else { nil }
        },
        .message(3, "offer", oneof: "message", \.message, Message.offer) {
            if case .offer(let value) = $0 { value } else { nil }
        },
        .message(4, "trickle", oneof: "message", \.message, Message.trickle) {
            if case .trickle(let value) = $0 { value } else { nil }
        },
        .message(5, "update", oneof: "message", \.message, Message.update) {
            if case .update(let value) = $0 { value } else { nil }
        },
        .message(6, "track_published", oneof: "message", \.message, Message.trackPublished) {
            if case .trackPublished(let value) = $0 { value } else { nil }
        },
        .message(8, "leave", oneof: "message", \.message, Message.leave) {
            if case .leave(let value) = $0 { value } else { nil }
        },
        .message(9, "mute", oneof: "message", \.message, Message.mute) {
            if case .mute(let value) = $0 { value } else { nil }
        },
        .message(10, "speakers_changed", oneof: "message", \.message, Message.speakersChanged) {
            if case .speakersChanged(let value) = $0 { value } else { nil }
        },
        .message(11, "room_update", oneof: "message", \.message, Message.roomUpdate) {
            if case .roomUpdate(let value) = $0 { value } else { nil }
        },
        .message(12, "connection_quality", oneof: "message", \.message, Message.connectionQuality) {
            if case .connectionQuality(let value) = $0 { value } else { nil }
        },
        .message(13, "stream_state_update", oneof: "message", \.message, Message.streamStateUpdate) {
            if case .streamStateUpdate(let value) = $0 { value } else { nil }
        },
        .message(14, "subscribed_quality_update", oneof: "message", \.message, Message.subscribedQualityUpdate) {
            if case .subscribedQualityUpdate(let value) = $0 { value } else { nil }
        },
        .message(
            15, "subscription_permission_update", oneof: "message", \.message, Message.subscriptionPermissionUpdate
        ) { if case .subscriptionPermissionUpdate(let value) = $0 { value } else { nil } },
        .string(16, "refresh_token", oneof: "message", \.message, Message.refreshToken) {
            if case .refreshToken(let value) = $0 { value } else { nil }
        },
        .message(17, "track_unpublished", oneof: "message", \.message, Message.trackUnpublished) {
            if case .trackUnpublished(let value) = $0 { value } else { nil }
        },
        .int64(18, "pong", oneof: "message", \.message, Message.pong) {
            if case .pong(let value) = $0 { value } else { nil }
        },
        .message(19, "reconnect", oneof: "message", \.message, Message.reconnect) {
            if case .reconnect(let value) = $0 { value } else { nil }
        },
        .message(20, "pong_resp", oneof: "message", \.message, Message.pongResp) {
            if case .pongResp(let value) = $0 { value } else { nil }
        },
        .message(21, "subscription_response", oneof: "message", \.message, Message.subscriptionResponse) {
            if case .subscriptionResponse(let value) = $0 { value } else { nil }
        },
        .message(22, "request_response", oneof: "message", \.message, Message.requestResponse) {
            if case .requestResponse(let value) = $0 { value } else { nil }
        },
        .message(23, "track_subscribed", oneof: "message", \.message, Message.trackSubscribed) {
            if case .trackSubscribed(let value) = $0 { value } else { nil }
        },
        .message(24, "room_moved", oneof: "message", \.message, Message.roomMoved) {
            if case .roomMoved(let value) = $0 { value } else { nil }
        },
        .message(25, "media_sections_requirement", oneof: "message", \.message, Message.mediaSectionsRequirement) {
            if case .mediaSectionsRequirement(let value) = $0 { value } else { nil }
        },
        .message(26, "subscribed_audio_codec_update", oneof: "message", \.message, Message.subscribedAudioCodecUpdate) {
            if case .subscribedAudioCodecUpdate(let value) = $0 { value } else { nil }
        },
        .message(27, "publish_data_track_response", oneof: "message", \.message, Message.publishDataTrackResponse) {
            if case .publishDataTrackResponse(let value) = $0 { value } else { nil }
        },
        .message(28, "unpublish_data_track_response", oneof: "message", \.message, Message.unpublishDataTrackResponse) {
            if case .unpublishDataTrackResponse(let value) = $0 { value } else { nil }
        },
        .message(29, "data_track_subscriber_handles", oneof: "message", \.message, Message.dataTrackSubscriberHandles) {
            if case .dataTrackSubscriberHandles(let value) = $0 { value } else { nil }
        },
        .message(30, "store_data_blob_response", oneof: "message", \.message, Message.storeDataBlobResponse) {
            if case .storeDataBlobResponse(let value) = $0 { value } else { nil }
        },
        .message(31, "get_data_blob_response", oneof: "message", \.message, Message.getDataBlobResponse) {
            if case .getDataBlobResponse(let value) = $0 { value } else { nil }
        },
    ]
}
