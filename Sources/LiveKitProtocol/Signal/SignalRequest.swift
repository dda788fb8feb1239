/// `livekit.SignalRequest`
public struct SignalRequest: ProtobufMessage {
    public var message: Message?

    public init() {}

    /// The cases of `message`; at most one is set.
    public enum Message: Equatable, Sendable {
        case offer(SessionDescription)
        case answer(SessionDescription)
        case trickle(TrickleRequest)
        case addTrack(AddTrackRequest)
        case mute(MuteTrackRequest)
        case subscription(UpdateSubscription)
        case trackSetting(UpdateTrackSettings)
        case leave(LeaveRequest)
        case updateLayers(UpdateVideoLayers)
        case subscriptionPermission(SubscriptionPermission)
        case syncState(SyncState)
        case simulate(SimulateScenario)
        case ping(Int64)
        case updateMetadata(UpdateParticipantMetadata)
        case pingReq(Ping)
        case updateAudioTrack(UpdateLocalAudioTrack)
        case updateVideoTrack(UpdateLocalVideoTrack)
        case publishDataTrackRequest(PublishDataTrackRequest)
        case unpublishDataTrackRequest(UnpublishDataTrackRequest)
        case updateDataSubscription(UpdateDataSubscription)
        case storeDataBlobRequest(StoreDataBlobRequest)
        case getDataBlobRequest(GetDataBlobRequest)
    }

    public static let protoMessageName = "livekit.SignalRequest"
    public static let fields: [ProtobufField<SignalRequest>] = [
        .message(1, "offer", oneof: "message", \.message, Message.offer) {
            if case .offer(let value) = $0 { value } else { nil }
        },
        .message(2, "answer", oneof: "message", \.message, Message.answer) {
            if case .answer(let value) = $0 { value } else { nil }
        },
        .message(3, "trickle", oneof: "message", \.message, Message.trickle) {
            if case .trickle(let value) = $0 { value } else { nil }
        },
        .message(4, "add_track", oneof: "message", \.message, Message.addTrack) {
            if case .addTrack(let value) = $0 { value } else { nil }
        },
        .message(5, "mute", oneof: "message", \.message, Message.mute) {
            if case .mute(let value) = $0 { value } else { nil }
        },
        .message(6, "subscription", oneof: "message", \.message, Message.subscription) {
            if case .subscription(let value) = $0 { value } else { nil }
        },
        .message(7, "track_setting", oneof: "message", \.message, Message.trackSetting) {
            if case .trackSetting(let value) = $0 { value } else { nil }
        },
        .message(8, "leave", oneof: "message", \.message, Message.leave) {
            if case .leave(let value) = $0 { value } else { nil }
        },
        .message(10, "update_layers", oneof: "message", \.message, Message.updateLayers) {
            if case .updateLayers(let value) = $0 { value } else { nil }
        },
        .message(11, "subscription_permission", oneof: "message", \.message, Message.subscriptionPermission) {
            if case .subscriptionPermission(let value) = $0 { value } else { nil }
        },
        .message(12, "sync_state", oneof: "message", \.message, Message.syncState) {
            if case .syncState(let value) = $0 { value } else { nil }
        },
        .message(13, "simulate", oneof: "message", \.message, Message.simulate) {
            if case .simulate(let value) = $0 { value } else { nil }
        },
        .int64(14, "ping", oneof: "message", \.message, Message.ping) {
            if case .ping(let value) = $0 { value } else { nil }
        },
        .message(15, "update_metadata", oneof: "message", \.message, Message.updateMetadata) {
            if case .updateMetadata(let value) = $0 { value } else { nil }
        },
        .message(16, "ping_req", oneof: "message", \.message, Message.pingReq) {
            if case .pingReq(let value) = $0 { value } else { nil }
        },
        .message(17, "update_audio_track", oneof: "message", \.message, Message.updateAudioTrack) {
            if case .updateAudioTrack(let value) = $0 { value } else { nil }
        },
        .message(18, "update_video_track", oneof: "message", \.message, Message.updateVideoTrack) {
            if case .updateVideoTrack(let value) = $0 { value } else { nil }
        },
        .message(19, "publish_data_track_request", oneof: "message", \.message, Message.publishDataTrackRequest) {
            if case .publishDataTrackRequest(let value) = $0 { value } else { nil }
        },
        .message(20, "unpublish_data_track_request", oneof: "message", \.message, Message.unpublishDataTrackRequest) {
            if case .unpublishDataTrackRequest(let value) = $0 { value } else { nil }
        },
        .message(21, "update_data_subscription", oneof: "message", \.message, Message.updateDataSubscription) {
            if case .updateDataSubscription(let value) = $0 { value } else { nil }
        },
        .message(22, "store_data_blob_request", oneof: "message", \.message, Message.storeDataBlobRequest) {
            if case .storeDataBlobRequest(let value) = $0 { value } else { nil }
        },
        .message(23, "get_data_blob_request", oneof: "message", \.message, Message.getDataBlobRequest) {
            if case .getDataBlobRequest(let value) = $0 { value } else { nil }
        },
    ]
}
