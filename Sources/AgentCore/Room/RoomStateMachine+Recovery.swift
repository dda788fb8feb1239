import LiveKitProtocol
import LoopCore

extension RoomStateMachine {
    /// How a lost connection is got back.
    public enum RecoveryKind: String, Sendable {
        /// A new signal connection to the same session: media, tracks and data go on.
        case resume
        /// A new session: everything is made and published anew.
        case full
    }

    /// A connection that is being got back.
    struct Recovery: Sendable {
        var kind: RecoveryKind
        /// Attempts that failed.
        var failures = 0
        var since: MonotonicTime
        /// Why the last attempt, or the connection itself, failed.
        var cause: DisconnectCause
        /// The media path is lost too.
        var needsICERestart = false
        /// The last reliable packet of this end that the server has, once it said so.
        var lastMessageSequence: UInt32 = 0
        /// The server's list of everybody is still to come.
        var awaitsParticipants = false
    }

    /// Delays between attempts: none, then 0.3 s doubled up to 7 s, the later half of each at random, so that clients of
    /// a server that comes back do not come all at once.
    mutating func backoff(failures: Int) -> Duration {
        guard failures > 0 else { return .zero }
        let longest = min(7_000, 300 << min(failures - 1, 10))
        // SplitMix64: a value, so that a machine with the same seed does the same.
        randomState &+= 0x9E37_79B9_7F4A_7C15
        var mixed = randomState
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return .milliseconds(longest / 2 + Int((mixed ^ (mixed >> 31)) % UInt64(longest / 2 + 1)))
    }

    /// Something failed: a connection that once stood is got back, another ends.
    mutating func fail(_ cause: DisconnectCause, as wanted: RecoveryKind = .resume, now: MonotonicTime) {
        guard wasConnected, configuration.maximumReconnects > 0, phase != .awaitingToken else {
            return triesAnotherRegion(cause, now: now) ? () : end(cause, now: now)
        }
        if recovery == nil || phase == .connected {
            recovery = Recovery(kind: wanted, since: now, cause: cause)
            effects.append(.event(.connectionStateChanged(.reconnecting)))
            effects.append(.event(.connectionLost(cause)))
        } else {
            recovery?.failures += 1
            recovery?.cause = cause
            if wanted == .full { recovery?.kind = .full }
        }
        guard let recovery, recovery.failures < configuration.maximumReconnects else {
            return end(
                .notReconnected(attempts: configuration.maximumReconnects, last: cause.description), now: now)
        }
        if case .mediaFailed = cause { self.recovery?.needsICERestart = true }
        effects.append(.closeSocket)
        generation += 1
        deadline = nil
        nextPing = nil
        unansweredPing = nil
        hasUnansweredOffer = hasUnansweredOffer || outstandingOffer != nil || isOfferRequested
        outstandingOffer = nil
        isOfferRequested = false
        // A track that was asked for and not confirmed is asked for again.
        for (cid, publication) in publications {
            if case .requested = publication.state { publications[cid]?.state = .waiting }
        }
        abandonRequests()
        avoidRegion(cause)
        let delay = backoff(failures: recovery.failures)
        move(.backOff, to: .backingOff(until: now + delay), cause: cause, now: now)
    }

    /// The time of the next attempt has come.
    mutating func attemptRecovery(now: MonotonicTime) {
        guard let recovery else { return }
        switch recovery.kind {
        case .resume: openSocket(now: now)
        case .full:
            for sid in subscribedTracks.sorted() { unsubscribe(sid) }
            for (cid, publication) in publications {
                publications[cid]?.state = .waiting
                publications[cid]?.request.muted = publication.isMuted
            }
            connectedTargets = []
            effects.append(.restartData)
            start(path, now: now)
        }
    }

    /// The reason that a resuming client gives.
    var reconnectReason: ReconnectReason {
        guard let recovery else { return .unknown }
        if case .mediaFailed = recovery.cause { return .publisherFailed }
        return .signalDisconnected
    }

    /// Whether the socket that is opened now is to resume a session.
    var isResuming: Bool { recovery?.kind == .resume }

    /// The server took the session up again.
    mutating func resumed(_ response: ReconnectResponse, now: MonotonicTime) {
        guard phase == .joining, isResuming else { return }
        move(.resumed, to: .connectingMedia, now: now)
        setDeadline("the media connection", configuration.limits.media, now: now)
        recovery?.lastMessageSequence = response.lastMessageSeq
        recovery?.awaitsParticipants = true
        effects.append(.updateICEServers(response.iceServers))
        effects.append(.sendSyncState(syncState))
        if pingInterval != nil { nextPing = now }
        for cid in publications.keys.sorted() {
            if case .published(let sid)? = publications[cid]?.state {
                sendMute(sid: sid, publications[cid]?.isMuted ?? false)
            } else {
                request(cid: cid, now: now)
            }
        }
        flushCandidates()
        if recovery?.needsICERestart == true {
            connectedTargets = []
            effects.append(.restartICE)
            requestOffer(now: now)
        } else {
            // An offer that was under way was lost with the socket.
            if needsOffer || hasUnansweredOffer { requestOffer(now: now) }
            recovered(now: now)
        }
        hasUnansweredOffer = false
        keepAlive(now: now)
    }

    /// What the server should know of this end; descriptions and data are the driver's part.
    private var syncState: SyncState {
        var state = SyncState()
        state.publishTracks = publications.sorted { $0.key < $1.key }.compactMap { cid, publication in
            guard case .published = publication.state, let track = publication.track else { return nil }
            var published = TrackPublishedResponse()
            published.cid = cid
            published.track = track
            return published
        }
        var subscription = UpdateSubscription()
        subscription.subscribe = !configuration.autoSubscribe
        state.subscription = subscription
        return state
    }

    /// Signaling and media stand again.
    mutating func recovered(now: MonotonicTime) {
        guard let recovery else { return }
        self.recovery?.failures = 0
        move(.mediaConnected, to: .connected, now: now)
        regions.failed = []
        deadline = nil
        if recovery.kind == .resume { effects.append(.replayData(after: recovery.lastMessageSequence)) }
        effects.append(.event(.connectionStateChanged(.connected)))
        effects.append(.event(.reconnected(recovery.kind, after: now - recovery.since)))
        if !recovery.awaitsParticipants { self.recovery = nil }
        sendHeldUpdates(now: now)
    }

    /// After a resume the server lists everybody, this participant included: whoever is missing has left meanwhile.
    mutating func reconcile(_ participants: [ParticipantInfo]) {
        guard recovery?.awaitsParticipants == true, participants.contains(where: { $0.sid == local?.sid }) else {
            return
        }
        recovery?.awaitsParticipants = false
        removeAbsent(participants)
        if phase == .connected { recovery = nil }
    }

    mutating func removeAbsent(_ participants: [ParticipantInfo]) {
        let present = Set(participants.map(\.identity))
        for participant in remotes.values.sorted(by: { $0.identity < $1.identity })
        where !present.contains(participant.identity) {
            removed(participant, reason: .unknownReason)
        }
    }

    // MARK: Tokens

    /// The server does not take the token any more: another one is asked for, if somebody can give one.
    mutating func tokenRefused(_ cause: DisconnectCause, now: MonotonicTime) {
        guard recovery != nil, configuration.renewsToken, recovery?.cause != cause else {
            return end(cause, now: now)
        }
        recovery?.cause = cause
        effects.append(.closeSocket)
        move(.refuseToken, to: .awaitingToken, cause: cause, now: now)
        setDeadline("getting another token", configuration.limits.token, now: now)
        effects.append(.event(.tokenNeeded))
    }

    mutating func tokenRenewed(_ token: String?, now: MonotonicTime) {
        guard phase == .awaitingToken, let recovery else { return }
        guard let token else { return end(recovery.cause, now: now) }
        self.token = token
        generation += 1
        deadline = nil
        move(.renewToken, to: .backingOff(until: now), now: now)
    }
}
