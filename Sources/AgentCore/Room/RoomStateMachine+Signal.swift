import LiveKitProtocol
import LoopCore

extension RoomStateMachine {
    /// Acts on one message of the server. Messages are handled in the order in which they came; those that do not
    /// concern an audio client, and those that are not known, change nothing.
    mutating func handle(_ response: SignalResponse, now: MonotonicTime) {
        guard let message = response.message, isSocketOpen else { return }
        if phase == .joining {
            switch message {
            case .join(let join): return joined(join, now: now)
            case .leave(let leave): return left(leave)
            default: return
            }
        }
        switch message {
        case .join(let join): joined(join, now: now)
        case .answer(let answer): answered(answer, now: now)
        case .offer(let offer): offered(offer)
        case .trickle(let trickle): effects.append(.addCandidate(trickle.target, json: trickle.candidateInit))
        case .update(let update): for info in update.participants { updated(info) }
        case .trackPublished(let published): trackPublished(published, now: now)
        case .trackUnpublished(let unpublished): trackUnpublished(sid: unpublished.trackSid)
        case .leave(let leave): left(leave)
        case .mute(let mute): muted(mute)
        case .speakersChanged(let change): effects.append(.event(.activeSpeakersChanged(change.speakers)))
        case .roomUpdate(let update):
            guard let room = update.room else { return }
            self.room = room
            effects.append(.event(.roomUpdated(room)))
        case .connectionQuality(let update): effects.append(.event(.connectionQualityChanged(update.updates)))
        case .streamStateUpdate(let update): effects.append(.event(.streamStatesChanged(update.streamStates)))
        case .subscriptionPermissionUpdate(let update):
            effects.append(
                .event(.subscriptionPermissionChanged(trackSid: update.trackSid, isAllowed: update.allowed)))
        case .subscriptionResponse(let answer):
            effects.append(.event(.subscriptionFailed(trackSid: answer.trackSid, error: answer.err)))
        case .refreshToken(let token): self.token = token
        case .pong, .reconnect: break
        case .pongResp(let pong):
            let sent = pong.lastPingTimestamp
            let elapsed = (now.nanoseconds / 1_000_000).subtractingReportingOverflow(sent)
            if !elapsed.overflow, (0...60_000).contains(elapsed.partialValue) {
                roundTripMilliseconds = elapsed.partialValue
            }
        case .requestResponse(let answer): answered(answer)
        case .trackSubscribed(let subscribed):
            effects.append(.event(.localTrackSubscribed(trackSid: subscribed.trackSid)))
        case .roomMoved(let move): moved(move)
        case .mediaSectionsRequirement(let requirement):
            // Zero means that the spare sections suffice; a new offer is wanted all the same. Video is not received.
            let count = Int(min(requirement.numAudios, 32))
            if count > 0 { effects.append(.addReceivers(audio: count)) }
            requestOffer(now: now)
        case .subscribedQualityUpdate, .subscribedAudioCodecUpdate, .publishDataTrackResponse,
            .unpublishDataTrackResponse, .dataTrackSubscriberHandles, .storeDataBlobResponse, .getDataBlobResponse:
            break
        }
    }

    // MARK: Leaving and moving

    private mutating func left(_ leave: LeaveRequest) {
        end(.server(leave.reason))
    }

    private mutating func moved(_ move: RoomMovedResponse) {
        if !move.token.isEmpty { token = move.token }
        if let room = move.room {
            self.room = room
            effects.append(.event(.roomUpdated(room)))
        }
        if let info = move.participant { local = Participant(info) }
        for participant in remotes.values.sorted(by: { $0.identity < $1.identity }) {
            removed(participant, reason: .migration)
        }
        for info in move.otherParticipants { updated(info) }
    }

    // MARK: Participants

    /// Applies one participant update. Updates are deltas by identity; an older version changes nothing, and a known
    /// identity with another sid has left and come back.
    private mutating func updated(_ info: ParticipantInfo) {
        if let local, info.sid == local.sid || (info.identity == local.identity && info.identity != "") {
            return updatedLocal(info, local)
        }
        let known = remotes[info.identity] ?? remotes.values.first { $0.sid == info.sid }
        if info.state == .disconnected {
            if let known, known.sid == info.sid { removed(known, reason: info.disconnectReason) }
            return
        }
        let participant = Participant(info)
        if let known, known.sid == info.sid {
            guard participant.version >= known.version else { return }
            remotes[known.identity] = nil
            remotes[participant.identity] = participant
            if participant != known {
                effects.append(.event(.participantUpdated(participant, previous: known)))
                announceTracks(of: participant, since: known.tracks)
            }
            return
        }
        if let known { removed(known, reason: .duplicateIdentity) }
        remotes[participant.identity] = participant
        effects.append(.event(.participantJoined(participant)))
        announceTracks(of: participant, since: [])
    }

    private mutating func updatedLocal(_ info: ParticipantInfo, _ known: Participant) {
        guard info.state != .disconnected else { return }
        let participant = Participant(info)
        guard participant.version >= known.version else { return }
        local = participant
        if participant != known { effects.append(.event(.participantUpdated(participant, previous: known))) }
    }

    private mutating func removed(_ participant: Participant, reason: DisconnectReason) {
        remotes[participant.identity] = nil
        for track in participant.tracks {
            unsubscribe(track.sid)
            effects.append(.event(.trackUnpublished(track, by: participant)))
        }
        effects.append(.event(.participantLeft(participant, reason: reason)))
    }

    private mutating func announceTracks(of participant: Participant, since before: [Participant.PublishedTrack]) {
        for track in participant.tracks where !before.contains(where: { $0.sid == track.sid }) {
            effects.append(.event(.trackPublished(track, by: participant)))
        }
        for track in before where !participant.tracks.contains(where: { $0.sid == track.sid }) {
            unsubscribe(track.sid)
            effects.append(.event(.trackUnpublished(track, by: participant)))
        }
    }

    /// The participant that publishes a track.
    func publisher(of trackSid: String) -> Participant? {
        remotes.values.first { participant in participant.tracks.contains { $0.sid == trackSid } }
    }

    // MARK: Own tracks

    mutating func publish(_ request: AddTrackRequest, now: MonotonicTime) {
        guard publications[request.cid] == nil else { return }
        publications[request.cid] = Publication(request: request, isMuted: request.muted)
        if phase == .connectingMedia || phase == .connected { self.request(cid: request.cid, now: now) }
    }

    mutating func request(cid: String, now: MonotonicTime) {
        guard publications[cid]?.state == .waiting, let request = publications[cid]?.request else { return }
        publications[cid]?.state = .requested(now)
        send(.addTrack(request))
    }

    private mutating func trackPublished(_ published: TrackPublishedResponse, now: MonotonicTime) {
        guard let track = published.track, let publication = publications[published.cid],
            case .requested = publication.state
        else { return }
        publications[published.cid]?.state = .published(sid: track.sid)
        let stream = publication.request.stream
        effects.append(
            .addSender(
                cid: published.cid, stream: stream.isEmpty ? "camera" : stream,
                redundant: !publication.request.disableRed))
        effects.append(.event(.localTrackPublished(cid: published.cid, track: track)))
        // The wish may have changed while the request was on its way.
        if publication.isMuted != publication.request.muted { sendMute(sid: track.sid, publication.isMuted) }
        requestOffer(now: now)
    }

    private mutating func trackUnpublished(sid: String) {
        for (cid, publication) in publications where publication.state == .published(sid: sid) {
            publications[cid] = nil
        }
        effects.append(.event(.localTrackUnpublished(trackSid: sid)))
    }

    mutating func setMuted(cid: String, _ isMuted: Bool) {
        guard let publication = publications[cid], publication.isMuted != isMuted else { return }
        publications[cid]?.isMuted = isMuted
        if case .published(let sid) = publication.state { sendMute(sid: sid, isMuted) }
    }

    private mutating func sendMute(sid: String, _ isMuted: Bool) {
        var request = MuteTrackRequest()
        request.sid = sid
        request.muted = isMuted
        send(.mute(request))
    }

    private mutating func muted(_ mute: MuteTrackRequest) {
        for (cid, publication) in publications where publication.state == .published(sid: mute.sid) {
            guard publication.isMuted != mute.muted else { return }
            publications[cid]?.isMuted = mute.muted
            effects.append(.event(.localTrackMuted(trackSid: mute.sid, isMuted: mute.muted)))
        }
    }

    /// Whether the track is muted, by this end or the server.
    public func isMuted(cid: String) -> Bool { publications[cid]?.isMuted ?? false }

    // MARK: Requests

    mutating func updateMetadata(_ update: UpdateParticipantMetadata) {
        guard phase == .connectingMedia || phase == .connected else { return }
        var request = update
        if request.requestId == 0 {
            request.requestId = nextRequestID
            nextRequestID &+= 1
        }
        send(.updateMetadata(request))
    }

    private mutating func answered(_ answer: RequestResponse) {
        if case .addTrack(let request)? = answer.request {
            // QUEUED means that the same request is pending already; its answer follows.
            guard answer.reason != .queued, answer.reason != .ok, publications[request.cid] != nil else { return }
            publications[request.cid] = nil
            let message = answer.message.isEmpty ? answer.reason.protoName : answer.message
            effects.append(
                .event(.publishFailed(cid: request.cid, reason: "the server refused the track: \(message)")))
            return
        }
        effects.append(.event(.requestAnswered(answer)))
    }
}
