import Foundation
import LiveKitProtocol
import RTCTransport

extension RoomMember {
    /// Bytes, as LiveKit's server limits them.
    private static let maximumMetadata = 512 << 10
    private static let maximumAttributes = 64 << 10

    /// Acts on one request of the client. Requests are handled in order.
    func handle(_ message: SignalRequest.Message) {
        guard !isClosed else { return }
        switch message {
        case .offer(let offer): answer(offer)
        case .answer(let answer): subscriberAnswered(answer)
        case .trickle(let trickle): add(trickle)
        case .addTrack(let request): addTrack(request)
        case .mute(let request): mute(request)
        case .subscription(let update): updateSubscription(update)
        case .trackSetting(let settings):
            for subscription in subscriptions where settings.trackSids.contains(subscription.track.sid) {
                subscription.isDisabled = settings.disabled
            }
        case .leave: room?.left(self)
        case .syncState(let state): synchronize(state)
        case .simulate(let simulation): simulate(simulation)
        case .ping(let timestamp): if !context.faults.dropsPongs { send(.pong(timestamp)) }
        case .pingReq(let ping): answer(ping)
        case .updateMetadata(let update): updateMetadata(update)
        case .updateAudioTrack(let update): updateAudioTrack(update)
        case .updateLayers, .subscriptionPermission, .updateVideoTrack, .publishDataTrackRequest,
            .unpublishDataTrackRequest, .updateDataSubscription, .storeDataBlobRequest, .getDataBlobRequest:
            break
        }
    }

    private func answer(_ ping: Ping) {
        guard !context.faults.dropsPongs else { return }
        var pong = Pong()
        pong.lastPingTimestamp = ping.timestamp
        pong.timestamp = Int64(Date().timeIntervalSince1970 * 1000)
        send(.pongResp(pong))
    }

    private func add(_ trickle: TrickleRequest) {
        guard let candidate = ICECandidate(json: trickle.candidateInit) else {
            context.log("\(identity): a candidate does not parse")
            return
        }
        let connection = trickle.target == .subscriber ? subscriber ?? publisher : publisher
        connection.add(candidate)
    }

    // MARK: Own tracks

    func addTrack(_ request: AddTrackRequest) {
        if let refusal = refusal(of: request) {
            var response = RequestResponse()
            response.reason = refusal.0
            response.message = refusal.1
            response.request = .addTrack(request)
            return send(.requestResponse(response))
        }
        var track = TrackInfo()
        track.sid = ServerIdentity.makeTrackID(type: request.type, source: request.source)
        track.type = request.type
        track.name = request.name
        track.muted = request.muted
        track.source = request.source
        track.disableDtx = request.disableDtx
        track.disableRed = request.disableRed
        track.stereo = request.stereo
        track.encryption = request.encryption
        track.audioFeatures = request.audioFeatures
        track.stream = request.stream.isEmpty ? Self.defaultStream(request.source) : request.stream
        track.backupCodecPolicy = .simulcast
        var codec = SimulcastCodecInfo()
        codec.cid = request.cid
        track.codecs = [codec]
        pendingTracks.append(PendingTrack(request: request, info: track))
        var response = TrackPublishedResponse()
        response.cid = request.cid
        response.track = track
        send(.trackPublished(response))
    }

    private func refusal(of request: AddTrackRequest) -> (RequestResponse.Reason, String)? {
        if !grants.mayPublish(request.source) { return (.notAllowed, "does not have permission to publish own track") }
        if request.type != .audio { return (.unsupportedType, "this server forwards audio only") }
        if pendingTracks.contains(where: { $0.request.cid == request.cid }) { return (.queued, "") }
        if pendingTracks.count >= Self.maximumPendingTracks { return (.limitExceeded, "too many pending tracks") }
        return nil
    }

    private static func defaultStream(_ source: TrackSource) -> String {
        switch source {
        case .microphone, .camera: "camera"
        case .screenShare, .screenShareAudio: "screen_share"
        default: ""
        }
    }

    private func mute(_ request: MuteTrackRequest) {
        if let index = pendingTracks.firstIndex(where: { $0.info.sid == request.sid }) {
            pendingTracks[index].info.muted = request.muted
            return
        }
        setMuted(sid: request.sid, request.muted)
    }

    /// Mutes or unmutes a published track and tells the room.
    func setMuted(sid: String, _ isMuted: Bool) {
        guard let track = tracks.first(where: { $0.sid == sid }), track.info.muted != isMuted else { return }
        track.info.muted = isMuted
        refreshTracks()
        room?.broadcast(self)
    }

    private func updateAudioTrack(_ update: UpdateLocalAudioTrack) {
        guard let track = tracks.first(where: { $0.sid == update.trackSid }) else { return }
        track.info.audioFeatures = update.features
        refreshTracks()
        room?.broadcast(self)
    }

    // MARK: Metadata

    private func updateMetadata(_ update: UpdateParticipantMetadata) {
        var response = RequestResponse()
        response.requestId = update.requestId
        response.request = .updateMetadata(update)
        let attributes = info.attributes.merging(update.attributes) { _, new in new }.filter { !$0.value.isEmpty }
        let size = attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        if !grants.canUpdateOwnMetadata {
            response.reason = .notAllowed
            response.message = "does not have permission to update own metadata"
        } else if size > Self.maximumAttributes || update.metadata.utf8.count > Self.maximumMetadata {
            response.reason = .limitExceeded
            response.message = "metadata or attributes are too large"
        } else {
            change { info in
                if !update.metadata.isEmpty { info.metadata = update.metadata }
                if !update.name.isEmpty { info.name = update.name }
                info.attributes = attributes
            }
            room?.broadcast(self)
            sendToken()
        }
        // Older clients do not know that OK is sent, too.
        if response.reason != .ok || client.protocol >= 15 || client.protocol == 0 { send(.requestResponse(response)) }
    }

    // MARK: Resuming and tests

    private func synchronize(_ state: SyncState) {
        if let subscription = state.subscription, !subscription.trackSids.isEmpty { updateSubscription(subscription) }
        for subscription in subscriptions {
            subscription.isDisabled = state.trackSidsDisabled.contains(subscription.track.sid)
        }
        let lastSeen = Dictionary(
            state.datachannelReceiveStates.map { ($0.publisherSid, $0.lastSeq) }, uniquingKeysWith: max)
        for packet in replay.missed(after: lastSeen) { try? reliable?.send(binary: packet) }
    }

    private func simulate(_ simulation: SimulateScenario) {
        switch simulation.scenario {
        case .serverLeave: room?.expel(self, reason: .serverShutdown)
        case .leaveRequestFullReconnect:
            room?.expel(self, reason: .unknownReason, action: .reconnect)
        case .disconnectSignalOnResume, .disconnectSignalOnResumeNoMessages: dropSignal(abruptly: true)
        default: break
        }
    }
}
