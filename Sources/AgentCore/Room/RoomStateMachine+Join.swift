import LiveKitProtocol
import LoopCore

extension RoomStateMachine {
    /// The signal protocol version announced: 16 has everything but packet trailers and the pre-negotiated data
    /// channels that servers expect of a client that announces 18.
    static let protocolVersion: Int32 = 16
    /// Baseline between participants: no inline or compressed streams, no RPC over streams.
    static let clientProtocol: Int32 = 0

    /// What the join says of this program.
    var clientInfo: ClientInfo {
        var info = configuration.clientInfo
        info.protocol = Self.protocolVersion
        info.clientProtocol = Self.clientProtocol
        return info
    }

    /// The query of the signal URL.
    var joinQuery: [(String, String)] {
        switch path {
        case .v1:
            var settings = ConnectionSettings()
            // Unset means false here, other than in the query of /rtc.
            settings.autoSubscribe = configuration.autoSubscribe
            var join = JoinRequest()
            join.clientInfo = clientInfo
            join.connectionSettings = settings
            if isResuming {
                join.reconnect = true
                join.reconnectReason = reconnectReason
                join.participantSid = local?.sid ?? ""
            } else {
                join.publisherOffer = SessionDescription(.offer, sdp: joinOffer, id: offerID)
            }
            var wrapped = WrappedJoinRequest()
            wrapped.compression = .none
            wrapped.joinRequest = join.serializedBytes()
            return [("join_request", Base64URL.encode(wrapped.serializedBytes(), padded: true))]
        case .v0:
            let info = clientInfo
            return [
                ("protocol", String(info.protocol)), ("client_protocol", String(info.clientProtocol)),
                ("version", info.version), ("os", info.os),
                ("auto_subscribe", configuration.autoSubscribe ? "1" : "0"), ("adaptive_stream", "0"),
            ]
                + (isResuming
                    ? [
                        ("reconnect", "1"), ("sid", local?.sid ?? ""),
                        ("reconnect_reason", String(reconnectReason.rawValue)),
                    ] : [])
        }
    }

    // MARK: The socket

    mutating func handleSignal(_ input: Input, now: MonotonicTime) {
        switch input {
        case .socketOpened(let generation) where generation == self.generation:
            guard phase == .openingSocket else { return }
            move(.socketOpened, to: .joining, now: now)
            setDeadline("joining the room", configuration.limits.join, now: now)
        case .socketRefused(let generation, let status, let body) where generation == self.generation:
            refused(status: status, body: body, now: now)
        case .socketFailed(let generation, let reason) where generation == self.generation:
            guard let url, hasSocket else { return }
            switch phase {
            case .openingSocket: fail(.unreachable(server: url.description, reason: reason), now: now)
            default: fail(.signalLost(reason: reason), now: now)
            }
        case .socketClosed(let generation, let reason) where generation == self.generation:
            guard hasSocket else { return }
            let detail = reason.isEmpty ? "the server closed it" : reason
            fail(.signalLost(reason: phase == .joining ? "\(detail) before the join was answered" : detail), now: now)
        case .validated(let generation, let status, let body) where generation == self.generation:
            guard phase == .validating else { return }
            validated(status: status, body: body, now: now)
        case .received(let generation, let response) where generation == self.generation:
            unansweredPing = nil
            handle(response, now: now)
        default:
            break
        }
    }

    /// The upgrade was answered with something other than a WebSocket: ask why, with the token, since the body of a
    /// refused upgrade is often lost.
    private mutating func refused(status: Int, body: String, now: MonotonicTime) {
        guard phase == .openingSocket, let url else { return }
        refusal = (status, body)
        move(.socketRefused, to: .validating, now: now)
        setDeadline("asking the server why it refused", configuration.limits.validation, now: now)
        effects.append(
            .validate(generation: generation, url: url.validation(path, query: joinQuery), token: token))
    }

    private mutating func validated(status: Int?, body: String, now: MonotonicTime) {
        guard let refusal else { return }
        // 404 has two meanings: an unknown path, or a room that does not exist.
        let isUnknownRoom = body.contains("requested room does not exist")
        let isUnknownPath = refusal.status == 404 && !isUnknownRoom && (status == nil || status == 404 || status == 200)
        if isUnknownPath, path == .v1, configuration.fallsBack {
            return start(.v0, now: now)
        }
        if let status, status != 200 { self.refusal = (status, body) }
        endRefused(now: now)
    }

    mutating func endRefused(now: MonotonicTime) {
        guard let refusal, let url else { return }
        let reason = Self.excerpt(refusal.body)
        switch refusal.status {
        case 401, 403:
            tokenRefused(.unauthorized(server: url.description, status: refusal.status, reason: reason), now: now)
        case 404 where refusal.body.contains("requested room does not exist"):
            end(.roomNotFound(server: url.description), now: now)
        case 404:
            end(
                .unreachable(
                    server: url.description, reason: "it answers 404, so it is no LiveKit server; check the URL"),
                now: now)
        default: fail(.rejected(server: url.description, status: refusal.status, reason: reason), now: now)
        }
    }

    /// The first line of a body, fit for a message.
    private static func excerpt(_ body: String) -> String {
        let line = body.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        let text = String(line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.map(Character.init))
        return text.isEmpty ? "no reason given" : String(text.prefix(200))
    }

    // MARK: The join response

    mutating func joined(_ join: JoinResponse, now: MonotonicTime) {
        guard phase == .joining else {
            effects.append(.event(.warning("the server sent a second join response; it was ignored")))
            return
        }
        guard let info = join.participant, !info.sid.isEmpty else {
            return end(.protocolViolation("the join response names no participant"), now: now)
        }
        // The server did not resume: it began a session that this end's transports do not belong to.
        if isResuming { return fail(.server(.stateMismatch), as: .full, now: now) }
        move(.joined, to: .connectingMedia, now: now)
        setDeadline("the media connection", configuration.limits.media, now: now)
        room = join.room
        local = Participant(info)
        if recovery == nil {
            for other in join.otherParticipants.prefix(Self.maximumParticipants) {
                remotes[other.identity] = Participant(other)
            }
        } else {
            // Most of them were here before.
            removeAbsent(join.otherParticipants)
            for other in join.otherParticipants { updated(other) }
        }
        pingInterval = join.pingInterval > 0 && join.pingTimeout > 0 ? .seconds(Int64(join.pingInterval)) : nil
        pingTimeout = .seconds(Int64(join.pingTimeout))
        if pingInterval != nil { nextPing = now }
        subscriberPrimary = path == .v0 && join.subscriberPrimary
        if path == .v0 { effects.append(.makeTransports(.v0)) }
        let relayOnly = join.clientConfiguration?.forceRelay == .enabled
        effects.append(.useICEServers(join.iceServers, relayOnly: relayOnly))
        if let local, recovery == nil {
            let others = remotes.values.sorted { $0.identity < $1.identity }
            effects.append(.event(.joined(room: join.room?.name ?? "", local: local, others: others)))
        }
        if let offer = outstandingOffer { outstandingOffer = (offer.id, now) }
        flushCandidates()
        for cid in publications.keys.sorted() { request(cid: cid, now: now) }
        let isPublisherNeeded =
            join.fastPublish || !join.subscriberPrimary || !publications.isEmpty || isPublisherWanted
        if path == .v0, isPublisherNeeded { requestOffer(now: now) }
        sendHeldUpdates(now: now)
        keepAlive(now: now)
    }

    // MARK: Keep-alive

    mutating func keepAlive(now: MonotonicTime) {
        guard let pingInterval, let pingTimeout, let due = nextPing else { return }
        if let unansweredPing, now - unansweredPing >= pingTimeout {
            return fail(
                .signalLost(reason: "no answer to a ping for \(DisconnectCause.seconds(pingTimeout))"), now: now)
        }
        guard now >= due else { return }
        nextPing = now + pingInterval
        // Armed once for an unanswered ping: re-arming it with each ping would never let it expire.
        unansweredPing = unansweredPing ?? now
        var ping = Ping()
        ping.timestamp = now.nanoseconds / 1_000_000
        ping.rtt = roundTripMilliseconds
        send(.pingReq(ping))
    }
}
