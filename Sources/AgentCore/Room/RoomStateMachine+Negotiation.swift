import LiveKitProtocol
import LoopCore

extension RoomStateMachine {
    // MARK: Offers of this end

    /// Wants a new offer; at most one is outstanding, and any number of wishes during it are one more offer.
    mutating func requestOffer(now: MonotonicTime) {
        guard outstandingOffer == nil, !isOfferRequested else {
            needsOffer = true
            return
        }
        needsOffer = false
        isOfferRequested = true
        effects.append(.makeOffer)
    }

    mutating func handleTransport(_ input: Input, now: MonotonicTime) {
        // What a given-up attempt still says concerns nobody.
        guard phase != .findingRegion else { return }
        switch input {
        case .offerMade(let sdp): offerMade(sdp, now: now)
        case .answerMade(let sdp, let id):
            send(.answer(SessionDescription(.answer, sdp: sdp, id: id)))
        case .candidateFound(let target, let json): found(target, json)
        case .receiving(let sections): receiving(sections)
        case .transportConnected(let target): connected(target, now: now)
        case .transportFailed(let target, let reason):
            let isNeeded =
                path == .v1 || target == (subscriberPrimary ? .subscriber : .publisher) || !publications.isEmpty
                || isPublisherWanted
            guard isNeeded else { return }
            connectedTargets.remove(target)
            // While signaling is being got back, the media comes with it.
            if recovery != nil, !isSocketOpen {
                recovery?.needsICERestart = true
            } else {
                fail(.mediaFailed(reason: reason), as: phase == .connected ? .resume : .full, now: now)
            }
        case .negotiationFailed(let reason):
            if case .backingOff = phase { return }
            fail(.protocolViolation("a session description could not be used: \(reason)"), as: .full, now: now)
        default: break
        }
    }

    private mutating func offerMade(_ sdp: String, now: MonotonicTime) {
        guard isOfferRequested else { return }
        isOfferRequested = false
        // Numbers count offers that were really made, from 1.
        offerID &+= 1
        outstandingOffer = (offerID, now)
        if phase == .preparingOffer {
            joinOffer = sdp
            return openSocket(now: now)
        }
        send(.offer(SessionDescription(.offer, sdp: sdp, id: offerID)))
    }

    mutating func answered(_ answer: SessionDescription, now: MonotonicTime) {
        // 0 is a server that does not number; anything else must be the offer that waits.
        guard let outstanding = outstandingOffer, answer.id == 0 || answer.id == outstanding.id else { return }
        outstandingOffer = nil
        // With two connections this one receives nothing, and its mids are not those of the other. The map is complete:
        // a section that it leaves out has no track any more.
        if path == .v1 { midToTrackID = answer.midToTrackId }
        effects.append(.applyAnswer(sdp: answer.sdp))
        if needsOffer { requestOffer(now: now) }
    }

    // MARK: Offers of the server

    mutating func offered(_ offer: SessionDescription) {
        // With one connection the client always offers.
        guard path == .v0 else { return }
        midToTrackID = offer.midToTrackId
        effects.append(.applyOffer(sdp: offer.sdp, id: offer.id))
    }

    // MARK: Candidates and states

    private mutating func found(_ target: SignalTarget, _ json: String) {
        let target = path == .v1 ? .publisher : target
        guard isJoined else {
            if pendingCandidates.count < 256 { pendingCandidates.append((target, json)) }
            return
        }
        trickle(target, json)
    }

    mutating func flushCandidates() {
        for (target, json) in pendingCandidates { trickle(target, json) }
        pendingCandidates = []
    }

    private mutating func trickle(_ target: SignalTarget, _ json: String) {
        var request = TrickleRequest()
        request.candidateInit = json
        request.target = target
        send(.trickle(request))
    }

    private mutating func connected(_ target: SignalTarget, now: MonotonicTime) {
        connectedTargets.insert(target)
        guard phase == .connectingMedia else { return }
        let primary: SignalTarget = subscriberPrimary ? .subscriber : .publisher
        guard connectedTargets.contains(primary) else { return }
        guard recovery == nil else { return recovered(now: now) }
        move(.mediaConnected, to: .connected, now: now)
        regions.failed = []
        wasConnected = true
        deadline = nil
        effects.append(.event(.connectionStateChanged(.connected)))
    }

    // MARK: Received tracks

    /// Asks for more sections that receive audio, as far as they are allowed.
    mutating func addReceivers(_ count: Int) {
        let count = min(count, Self.maximumReceivers - receiverCount)
        guard count > 0 else { return }
        receiverCount += count
        effects.append(.addReceivers(audio: count))
    }

    /// Takes the receiving sections after a negotiation: binds new ones to their tracks and drops those that ended.
    private mutating func receiving(_ sections: [Receiving]) {
        guard isSocketOpen else { return }
        var current: [String: String] = [:]
        for section in sections {
            guard let sid = trackSid(of: section) else { continue }
            current[sid] = section.mid
        }
        for sid in subscribedTracks.subtracting(current.keys).sorted() { unsubscribe(sid) }
        for (sid, mid) in current.sorted(by: { $0.key < $1.key }) {
            effects.append(.bind(mid: mid, trackSid: sid))
            if subscribedTracks.insert(sid).inserted { announceSubscription(of: sid) }
        }
    }

    /// Says that a track is subscribed, once its publisher is known: media may come before the participant does.
    mutating func announceSubscription(of sid: String) {
        guard subscribedTracks.contains(sid), let participant = publisher(of: sid),
            announcedTracks.insert(sid).inserted
        else { return }
        effects.append(.event(.trackSubscribed(trackSid: sid, participant: participant)))
    }

    /// The server's map first: track ids in `a=msid` are stale once a section was used again.
    private func trackSid(of section: Receiving) -> String? {
        if let sid = midToTrackID[section.mid] { return sid }
        let parts = section.stream.split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("PA_") else { return nil }
        if parts[1].hasPrefix("TR_") { return String(parts[1]) }
        return section.track.hasPrefix("TR_") ? section.track : nil
    }

    mutating func unsubscribe(_ sid: String) {
        guard subscribedTracks.remove(sid) != nil else { return }
        effects.append(.unbind(trackSid: sid))
        if announcedTracks.remove(sid) != nil { effects.append(.event(.trackUnsubscribed(trackSid: sid))) }
    }
}

extension LiveKitProtocol.SessionDescription {
    /// How the protocol writes the kind.
    enum Kind: String { case offer, answer }

    /// - Parameter id: counts offers; an answer has that of its offer.
    init(_ kind: Kind, sdp: String, id: UInt32) {
        self.init()
        type = kind.rawValue
        self.sdp = sdp
        self.id = id
    }
}
