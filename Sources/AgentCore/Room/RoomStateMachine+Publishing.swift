import LiveKitProtocol
import LoopCore

extension RoomStateMachine {
    // MARK: Own tracks

    mutating func publish(_ request: AddTrackRequest, now: MonotonicTime) {
        guard publications[request.cid] == nil else { return }
        publications[request.cid] = Publication(request: request, isMuted: request.muted)
        if isJoined { self.request(cid: request.cid, now: now) }
    }

    mutating func request(cid: String, now: MonotonicTime) {
        guard publications[cid]?.state == .waiting, let request = publications[cid]?.request else { return }
        publications[cid]?.state = .requested(now)
        send(.addTrack(request))
    }

    mutating func trackPublished(_ published: TrackPublishedResponse, now: MonotonicTime) {
        guard let track = published.track, let publication = publications[published.cid],
            case .requested = publication.state
        else { return }
        publications[published.cid]?.state = .published(sid: track.sid)
        publications[published.cid]?.track = track
        let stream = publication.request.stream
        effects.append(
            .addSender(
                cid: published.cid, stream: stream.isEmpty ? "camera" : stream,
                redundant: !publication.request.disableRed))
        effects.append(.event(.localTrackPublished(cid: published.cid, track: track)))
        // The wish may have changed while the request was on its way.
        if publication.isMuted != publication.request.muted { sendMute(sid: track.sid, publication.isMuted) }
        requestOffer(now: now)
        if earlySubscriptions.remove(track.sid) != nil { trackSubscribed(sid: track.sid) }
    }

    /// Somebody subscribed to a track of this end. It may be told before the answer that names the track; then it is
    /// kept until that comes.
    mutating func trackSubscribed(sid: String) {
        if publications.values.contains(where: { $0.state == .published(sid: sid) }) {
            effects.append(.event(.localTrackSubscribed(trackSid: sid)))
        } else if earlySubscriptions.count < Self.maximumEarlySubscriptions {
            earlySubscriptions.insert(sid)
        }
    }

    mutating func trackUnpublished(sid: String) {
        for (cid, publication) in publications where publication.state == .published(sid: sid) {
            publications[cid] = nil
        }
        effects.append(.event(.localTrackUnpublished(trackSid: sid)))
    }

    mutating func setMuted(cid: String, _ isMuted: Bool) {
        guard let publication = publications[cid], publication.isMuted != isMuted else { return }
        publications[cid]?.isMuted = isMuted
        // Without a connection it is said with the resume.
        if case .published(let sid) = publication.state, isJoined { sendMute(sid: sid, isMuted) }
    }

    mutating func sendMute(sid: String, _ isMuted: Bool) {
        var request = MuteTrackRequest()
        request.sid = sid
        request.muted = isMuted
        send(.mute(request))
    }

    mutating func muted(_ mute: MuteTrackRequest) {
        for (cid, publication) in publications where publication.state == .published(sid: mute.sid) {
            guard publication.isMuted != mute.muted else { return }
            publications[cid]?.isMuted = mute.muted
            effects.append(.event(.localTrackMuted(trackSid: mute.sid, isMuted: mute.muted)))
        }
    }

    /// Whether the track is muted, by this end or the server.
    public func isMuted(cid: String) -> Bool { publications[cid]?.isMuted ?? false }

    // MARK: Requests

    /// Asks for a change of this participant, now or once the room is joined. The id of the request is the driver's;
    /// ``Effect/requestEnded(id:_:)`` follows for each.
    mutating func updateMetadata(_ update: UpdateParticipantMetadata, now: MonotonicTime) {
        guard heldUpdates.count + awaitedAnswers.count < Self.maximumRequests else {
            effects.append(.requestEnded(id: update.requestId, .tooMany(limit: Self.maximumRequests)))
            return
        }
        guard isJoined else {
            heldUpdates.append(update)
            return
        }
        awaitedAnswers[update.requestId] = now
        send(.updateMetadata(update))
    }

    /// What was asked for without a connection.
    mutating func sendHeldUpdates(now: MonotonicTime) {
        let updates = heldUpdates
        heldUpdates = []
        for update in updates { updateMetadata(update, now: now) }
    }

    mutating func answered(_ answer: RequestResponse) {
        if case .addTrack(let request)? = answer.request {
            // QUEUED means that the same request is pending already; its answer follows.
            guard answer.reason != .queued, answer.reason != .ok, publications[request.cid] != nil else { return }
            publications[request.cid] = nil
            let message = answer.message.isEmpty ? answer.reason.protoName : answer.message
            effects.append(
                .event(.publishFailed(cid: request.cid, reason: "the server refused the track: \(message)")))
            return
        }
        if awaitedAnswers.removeValue(forKey: answer.requestId) != nil {
            let error = answer.reason == .ok ? nil : RequestError.refused(answer.reason, message: answer.message)
            effects.append(.requestEnded(id: answer.requestId, error))
        }
        effects.append(.event(.requestAnswered(answer)))
    }

    /// Gives up requests that were not answered in time.
    mutating func expireRequests(now: MonotonicTime) {
        let limit = configuration.limits.request
        for (id, sentAt) in awaitedAnswers.sorted(by: { $0.key < $1.key }) where now - sentAt >= limit {
            awaitedAnswers[id] = nil
            effects.append(.requestEnded(id: id, .timedOut(after: limit)))
        }
    }

    /// The session is over: nothing is answered any more.
    mutating func abandonRequests() {
        for id in (heldUpdates.map(\.requestId) + awaitedAnswers.keys).sorted() {
            effects.append(.requestEnded(id: id, .disconnected))
        }
        heldUpdates = []
        awaitedAnswers = [:]
    }

    // MARK: Data

    /// Data waits to be sent. It travels on the publishing connection, which a server with two connections expects
    /// only once something is to be published.
    mutating func dataWaits(now: MonotonicTime) {
        isPublisherWanted = true
        if isJoined, path == .v0, offerID == 0, !isOfferRequested { requestOffer(now: now) }
    }
}
