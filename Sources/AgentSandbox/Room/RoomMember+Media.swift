import LiveKitProtocol
import RTCTransport

extension RoomMember {
    /// Follows what a connection reports.
    func watch(_ connection: PeerConnection, target: SignalTarget) {
        connection.onEvent = { [weak self, weak connection] event in
            guard let self, let connection, !self.isClosed else { return }
            self.handle(event, of: connection, target: target)
        }
    }

    private func handle(_ event: PeerConnection.Event, of connection: PeerConnection, target: SignalTarget) {
        switch event {
        case .iceCandidate(let candidate):
            var trickle = TrickleRequest()
            trickle.candidateInit = candidate.json
            trickle.target = target
            send(.trickle(trickle))
        case .connectionStateChanged(let state, let reason):
            context.log(
                "\(identity): \(target == .publisher ? "publisher" : "subscriber") \(state.rawValue)"
                    + (reason.map { ": \($0)" } ?? ""))
            if state == .connected { checkActive() }
            if state == .failed { mediaFailed(connection) }
        case .dataChannel(let channel):
            adopt(channel)
        case .iceGatheringComplete, .iceStateChanged, .dtlsStateChanged, .transceiverChanged:
            break
        }
    }

    /// A connection is beyond repair. A client that leaves takes its connections down before its goodbye arrives, so
    /// that is waited for; then the client is asked to resume, and dropped when it does not.
    private func mediaFailed(_ connection: PeerConnection) {
        guard connection === primary || !tracks.isEmpty else { return }
        failureTimer = context.loop.schedule(after: .seconds(1)) { [weak self] in
            guard let self, !self.isClosed else { return }
            guard self.isActive else {
                self.room?.expel(self, reason: .joinFailure)
                return
            }
            var leave = LeaveRequest()
            leave.action = .resume
            leave.canReconnect = true
            self.send(.leave(leave))
            self.dropSignal(abruptly: false)
        }
    }

    // MARK: Offers of the client

    /// Answers an offer: binds what it publishes, places what the client is subscribed to.
    func answer(_ offer: LiveKitProtocol.SessionDescription) {
        if !wasAnswered, room?.closes(self, at: .beforeAnswer) == true { return }
        let bound: [PublishedTrack]
        let answer: RTCTransport.SessionDescription
        let sections: [OfferedSection]
        do {
            sections = try OfferedSection.parse(offer.sdp)
            try publisher.setRemoteDescription(.init(kind: .offer, sdp: offer.sdp))
            hasApplication = sections.contains { $0.media == "application" && !$0.isRejected }
            bound = bindTracks(sections)
            if isSinglePC { place(sections) }
            setDirections(sections)
            answer = try publisher.createAnswer()
            try publisher.setLocalDescription(answer)
        } catch {
            context.log("\(identity): the offer cannot be answered: \(error)")
            room?.expel(self, reason: .unknownReason, action: .reconnect)
            return
        }
        publish(bound)
        var response = LiveKitProtocol.SessionDescription()
        response.type = "answer"
        response.sdp = answer.sdp
        response.id = offer.id
        if isSinglePC { response.midToTrackId = midToTrackID(publisher) }
        send(.answer(response))
        if isSinglePC {
            activateSubscriptions()
            requireSections(offered: sections.count)
        }
        if !wasAnswered {
            wasAnswered = true
            if room?.closes(self, at: .afterAnswer) == true { return }
        }
        checkActive()
    }

    private func transceiver(_ mid: String) -> Transceiver? { publisher.transceivers.first { $0.mid == mid } }

    /// Matches the sections that send with the `add_track` requests, and ends the tracks whose section stopped.
    private func bindTracks(_ sections: [OfferedSection]) -> [PublishedTrack] {
        for track in tracks {
            let section = sections.first { $0.mid == track.info.mid }
            let isReplaced = section?.msid.map { msid in
                pendingTracks.contains { Self.matches($0.request, msid) }
            }
            if section?.direction.sends != true || isReplaced == true { end(track) }
        }
        var bound: [PublishedTrack] = []
        let free = sections.filter { section in
            section.media == "audio" && section.direction.sends && !section.isRejected
                && !tracks.contains { $0.info.mid == section.mid }
        }
        // Exact matches first, so that a section with an unknown id does not take the request of another.
        for isExact in [true, false] {
            for section in free where !bound.contains(where: { $0.info.mid == section.mid }) {
                guard let transceiver = transceiver(section.mid), let msid = section.msid else { continue }
                let index = pendingTracks.firstIndex { pending in
                    isExact ? Self.matches(pending.request, msid) : pending.request.type == .audio
                }
                guard let index else { continue }
                let pending = pendingTracks.remove(at: index)
                let track = PublishedTrack(cid: pending.request.cid, info: pending.info, publisher: self)
                track.info.mid = section.mid
                track.start(transceiver, context: context)
                bound.append(track)
            }
        }
        return bound
    }

    private static func matches(_ request: AddTrackRequest, _ msid: MediaStreamID) -> Bool {
        let ids = [msid.track, "\(msid.stream) \(msid.track)"]
        return ids.contains(request.cid) || request.simulcastCodecs.contains { ids.contains($0.cid) && !$0.cid.isEmpty }
    }

    /// What the server wants of each section: to receive what is published there, to send what is placed there.
    private func setDirections(_ sections: [OfferedSection]) {
        for transceiver in publisher.transceivers {
            let receives = transceiver.onPacket != nil
            let subscription = subscriptions.first { $0.transceiver === transceiver }
            transceiver.direction =
                switch (subscription != nil, receives) {
                case (true, true): .sendrecv
                case (true, false): .sendonly
                case (false, true): .recvonly
                case (false, false): .inactive
                }
            if isSinglePC { transceiver.msid = subscription?.msid }
        }
    }

    private func publish(_ bound: [PublishedTrack]) {
        guard !bound.isEmpty else { return }
        for track in bound {
            let isRedundant = track.source?.audio?.redPayloadType != nil && !track.info.disableRed
            track.info.mimeType = isRedundant ? "audio/red" : "audio/opus"
            track.info.codecs = track.info.codecs.map { codec in
                var codec = codec
                codec.mimeType = track.info.mimeType
                codec.mid = track.info.mid
                return codec
            }
            track.info.version = context.timedVersion
            tracks.append(track)
            context.log("\(identity): publishes \(track.info.name) as \(track.sid)")
        }
        refreshTracks()
        room?.published(bound, by: self)
    }

    /// The client stopped publishing a track.
    private func end(_ track: PublishedTrack) {
        track.stop()
        tracks.removeAll { $0 === track }
        refreshTracks()
        context.log("\(identity): no longer publishes \(track.sid)")
        room?.unpublished(track, by: self)
    }

    // MARK: Data channels

    private func adopt(_ channel: DataChannel) {
        guard upstream.count < Self.maximumChannels else { return channel.close() }
        upstream.append(channel)
        let isReliable = channel.label == "_reliable"
        guard isReliable || channel.label == "_lossy" else { return }
        channel.onMessage = { [weak self] bytes, isBinary in
            guard let self, isBinary else { return }
            self.room?.route(bytes, from: self, reliable: isReliable)
        }
        // With one connection the client's channels serve both ways.
        guard subscriber == nil else { return }
        if isReliable { reliable = channel } else { lossy = channel }
        channel.onOpen = { [weak self] in self?.checkActive() }
        checkActive()
    }

    /// Passes a packet on to the client; a lossy one is dropped where its channel is full.
    func deliver(_ bytes: [UInt8], reliable isReliable: Bool, senderSid: String, sequence: UInt32) {
        if isReliable { replay.append(bytes, senderSid: senderSid, sequence: sequence) }
        do {
            try (isReliable ? reliable : lossy)?.send(binary: bytes)
        } catch {
            context.log("\(identity): a data packet of \(bytes.count) bytes was lost: \(error)")
        }
    }
}
