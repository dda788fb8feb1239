import LiveKitProtocol
import RTCTransport

extension RoomMember {
    /// Media sections of a subscriber connection; past this many, those no longer used are used again.
    private static let maximumSections = 64

    // MARK: What is wanted

    /// Subscribes to tracks and negotiates them.
    func subscribe(to tracks: [PublishedTrack]) {
        guard grants.canSubscribe, !isClosed else { return }
        let new = tracks.filter { track in
            track.publisher !== self && !subscriptions.contains { $0.track === track }
        }
        guard !new.isEmpty else { return }
        for track in new {
            let subscription = Subscription(track: track)
            subscriptions.append(subscription)
            track.add(subscription)
            var update = SubscriptionPermissionUpdate()
            update.participantSid = track.publisherSid
            update.trackSid = track.sid
            update.allowed = true
            send(.subscriptionPermissionUpdate(update))
        }
        renegotiate()
    }

    func unsubscribe(from tracks: [PublishedTrack]) {
        let gone = subscriptions.filter { subscription in tracks.contains { $0 === subscription.track } }
        guard !gone.isEmpty else { return }
        for subscription in gone {
            subscription.track.remove(subscription)
            subscription.isActive = false
            subscription.transceiver?.direction = .inactive
            subscriptions.removeAll { $0 === subscription }
        }
        renegotiate()
    }

    func updateSubscription(_ update: UpdateSubscription) {
        let sids = update.trackSids + update.participantTracks.flatMap(\.trackSids)
        var found: [PublishedTrack] = []
        for sid in sids.prefix(256) {
            if let track = room?.track(sid) {
                found.append(track)
            } else if update.subscribe {
                var response = SubscriptionResponse()
                response.trackSid = sid
                response.err = .trackNotfound
                send(.subscriptionResponse(response))
            }
        }
        if update.subscribe { subscribe(to: found) } else { unsubscribe(from: found) }
    }

    /// Has the change of subscriptions negotiated: with one connection the client is asked for an offer.
    private func renegotiate() {
        if isSinglePC {
            guard wasAnswered else { return }
            lastRequirement = nil
            requireSections(offered: publisher.transceivers.count, always: true)
        } else {
            offerSubscriber()
        }
    }

    /// Which track the server sends in which section.
    func midToTrackID(_ connection: PeerConnection) -> [String: String] {
        var map: [String: String] = [:]
        for subscription in subscriptions {
            if let mid = subscription.transceiver?.mid { map[mid] = subscription.track.sid }
        }
        return map
    }

    /// After a negotiation: media flows where it was agreed.
    func activateSubscriptions() {
        for subscription in subscriptions {
            guard let transceiver = subscription.transceiver else { continue }
            guard transceiver.currentDirection?.sends == true else {
                // The client does not take it here; another section may do.
                if isSinglePC { subscription.transceiver = nil }
                subscription.isActive = false
                continue
            }
            guard !subscription.isActive else { continue }
            transceiver.redEnabled = !subscription.track.info.disableRed
            subscription.isActive = true
        }
        announceSubscriptions()
    }

    /// Tells publishers that they are heard, once media and data really reach this participant: an agent starts to
    /// speak then.
    func announceSubscriptions() {
        guard isActive else { return }
        for subscription in subscriptions where subscription.isActive { subscription.track.activated() }
    }

    // MARK: One connection

    /// Puts subscriptions into sections that the client offers to receive in and that nothing else uses.
    func place(_ sections: [OfferedSection]) {
        var free = sections.filter { section in
            section.media == "audio" && section.direction.receives && !section.isRejected
        }.compactMap { section in publisher.transceivers.first { $0.mid == section.mid } }
        free.removeAll { transceiver in
            transceiver.onPacket != nil || subscriptions.contains { $0.transceiver === transceiver }
        }
        for subscription in subscriptions where subscription.transceiver == nil && !free.isEmpty {
            subscription.transceiver = free.removeFirst()
        }
    }

    /// Asks for an offer with as many more sections as are missing; the same lack is told once.
    func requireSections(offered sections: Int, always: Bool = false) {
        let waiting = subscriptions.count { $0.transceiver == nil }
        let spare = publisher.transceivers.count { transceiver in
            transceiver.kind == .audio && transceiver.currentDirection != .recvonly && transceiver.onPacket == nil
                && !subscriptions.contains { $0.transceiver === transceiver }
        }
        guard always || waiting > 0 else {
            lastRequirement = nil
            return
        }
        // Spare sections count only when the client was not asked before: it may not offer to receive in them.
        let missing = always ? max(0, waiting - spare) : waiting
        if !always, let last = lastRequirement, last == (missing, sections) { return }
        lastRequirement = (missing, sections)
        var requirement = MediaSectionsRequirement()
        requirement.numAudios = UInt32(missing)
        send(.mediaSectionsRequirement(requirement))
    }

    // MARK: Two connections

    /// Creates the channels that carry data to the client.
    func openDownstream() {
        guard let subscriber else { return }
        let reliable = subscriber.createDataChannel(label: "_reliable")
        reliable.onOpen = { [weak self] in self?.checkActive() }
        self.reliable = reliable
        lossy = subscriber.createDataChannel(label: "_lossy", ordered: false, maxRetransmits: 0)
        upstream.append(reliable)
        if let lossy { upstream.append(lossy) }
        upstream.append(subscriber.createDataChannel(label: "_data_track", ordered: false, maxRetransmits: 0))
    }

    /// Offers the subscriptions as they are; a wish during an outstanding offer waits for its answer.
    func offerSubscriber(iceRestart: Bool = false) {
        guard let subscriber, !isClosed else { return }
        guard !offer.isOutstanding else {
            offer.isNeeded = true
            return
        }
        placeInSubscriber(subscriber)
        do {
            let description = try subscriber.createOffer(iceRestart: iceRestart)
            try subscriber.setLocalDescription(description)
            offer.id &+= 1
            offer.isOutstanding = true
            offer.isNeeded = false
            var message = LiveKitProtocol.SessionDescription()
            message.type = "offer"
            message.sdp = description.sdp
            message.id = offer.id
            message.midToTrackId = midToTrackID(subscriber)
            send(.offer(message))
        } catch {
            context.log("\(identity): no offer can be made: \(error)")
            return
        }
        offer.timer = context.loop.schedule(after: .seconds(15)) { [weak self] in
            guard let self else { return }
            self.room?.expel(self, reason: .unknownReason, action: .reconnect)
        }
    }

    private func placeInSubscriber(_ subscriber: PeerConnection) {
        for subscription in subscriptions where subscription.transceiver == nil {
            let unused = subscriber.transceivers.first { transceiver in
                transceiver.direction == .inactive && !subscriptions.contains { $0.transceiver === transceiver }
            }
            if subscriber.transceivers.count >= Self.maximumSections, let unused {
                unused.direction = .sendonly
                unused.msid = subscription.msid
                subscription.transceiver = unused
            } else {
                subscription.transceiver = subscriber.addTransceiver(
                    kind: .audio, direction: .sendonly, msid: subscription.msid)
            }
        }
    }

    /// Takes the client's answer to the outstanding offer; one to an older offer is dropped.
    func subscriberAnswered(_ answer: LiveKitProtocol.SessionDescription) {
        guard let subscriber, offer.isOutstanding, answer.id == 0 || answer.id == offer.id else { return }
        offer.isOutstanding = false
        offer.timer = nil
        do {
            try subscriber.setRemoteDescription(.init(kind: .answer, sdp: answer.sdp))
        } catch {
            context.log("\(identity): the answer cannot be used: \(error)")
            room?.expel(self, reason: .unknownReason, action: .reconnect)
            return
        }
        activateSubscriptions()
        if offer.isNeeded { offerSubscriber() }
        checkActive()
    }
}
