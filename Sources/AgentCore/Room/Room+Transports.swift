import LiveKitProtocol
import LoopCore
import RTCTransport

/// The media half of the driver: peer connections, their negotiation, tracks and data channels.
extension Room {
    // MARK: Transports

    func makeTransports(_ path: LiveKitURL.SignalPath) {
        closeTransports()
        // With two connections the servers come first, see `use`.
        guard path == .v1 else { return }
        makePublisher(servers: options.iceServers ?? [], defersGathering: true)
    }

    func use(_ servers: [LiveKitProtocol.ICEServer], relayOnly: Bool) {
        let servers = iceServers(servers)
        if machine.path == .v1 {
            publisher?.setICEServers(servers)
            if relayOnly { publisher?.requireRelay() }
            publisher?.startGathering()
            return
        }
        makePublisher(servers: servers, defersGathering: false)
        subscriber = makeConnection(.subscriber, servers: servers, defersGathering: false)
        // Nothing is gathered before the first description.
        if relayOnly {
            publisher?.requireRelay()
            subscriber?.requireRelay()
        }
    }

    func updateICEServers(_ servers: [LiveKitProtocol.ICEServer]) {
        guard options.iceServers == nil, !servers.isEmpty else { return }
        let servers = iceServers(servers)
        publisher?.setICEServers(servers)
        subscriber?.setICEServers(servers)
    }

    /// The servers to use: those of the options, where there are any, instead of the server's.
    private func iceServers(_ servers: [LiveKitProtocol.ICEServer]) -> [RTCTransport.ICEServer] {
        options.iceServers
            ?? servers.map { ICEServer(urls: $0.urls, username: $0.username, credential: $0.credential) }
    }

    /// Tells a server that took the session up again what this end has of it.
    func send(_ state: SyncState) {
        var state = state
        let isSingle = machine.path == .v1
        func description(_ description: RTCTransport.SessionDescription?) -> LiveKitProtocol.SessionDescription? {
            description.map { .init($0.kind == .offer ? .offer : .answer, sdp: $0.sdp, id: 0) }
        }
        state.answer = description(isSingle ? publisher?.remoteDescription : subscriber?.localDescription)
        state.offer = description(isSingle ? publisher?.localDescription : subscriber?.remoteDescription)
        state.dataChannels = channels.filter { $0.readyState == .open }.map {
            var info = DataChannelInfo()
            info.label = $0.label
            info.id = UInt32($0.id ?? 0)
            return info
        }
        state.datachannelReceiveStates = inbox.lastReceived.map {
            var received = DataChannelReceiveState()
            received.publisherSid = $0.sender
            received.lastSeq = $0.sequence
            return received
        }
        var request = SignalRequest()
        request.message = .syncState(state)
        send(request)
    }

    func restartData() {
        reliable.restart()
        inbox.restart()
    }

    private func makePublisher(servers: [RTCTransport.ICEServer], defersGathering: Bool) {
        guard let connection = makeConnection(.publisher, servers: servers, defersGathering: defersGathering) else {
            return
        }
        publisher = connection
        let reliableChannel = connection.createDataChannel(label: "_reliable")
        let lossyChannel = connection.createDataChannel(label: "_lossy", ordered: false, maxRetransmits: 0)
        let trackChannel = connection.createDataChannel(label: "_data_track", ordered: false, maxRetransmits: 0)
        reliable.use(reliableChannel)
        lossy.use(lossyChannel)
        listen(to: reliableChannel)
        listen(to: lossyChannel)
        channels += [reliableChannel, lossyChannel, trackChannel]
    }

    private func makeConnection(
        _ target: SignalTarget, servers: [RTCTransport.ICEServer], defersGathering: Bool
    ) -> PeerConnection? {
        var configuration = PeerConnection.Configuration()
        configuration.iceServers = servers
        configuration.relayOnly = options.relayOnly
        configuration.loopbackOnly = options.loopbackOnly
        configuration.allowsRED = options.allowsRedundantAudio
        configuration.defersGathering = defersGathering
        do {
            let connection = try PeerConnection(loop: loop, configuration: configuration)
            connection.onEvent = { [weak self] in self?.handle($0, target) }
            return connection
        } catch {
            submit(.transportFailed(target, reason: error.description))
            return nil
        }
    }

    private func handle(_ event: PeerConnection.Event, _ target: SignalTarget) {
        switch event {
        case .iceCandidate(let candidate): submit(.candidateFound(target, json: candidate.json))
        case .connectionStateChanged(.connected, _): submit(.transportConnected(target))
        case .connectionStateChanged(.failed, let reason):
            submit(.transportFailed(target, reason: reason ?? "unknown"))
        case .dataChannel(let channel):
            channels.append(channel)
            if channel.label == "_reliable" || channel.label == "_lossy" { listen(to: channel) }
        case .connectionStateChanged, .iceGatheringComplete, .iceStateChanged, .dtlsStateChanged, .transceiverChanged:
            break
        }
    }

    func closeTransports() {
        // What was counted outlives the transports that counted it.
        if case .disconnected = machine.phase, ended == nil { ended = (timings, statistics) }
        for transceiver in subscriptions.values { transceiver.onFrame = nil }
        subscriptions = [:]
        for track in tracks.values { track.transceiver = nil }
        publisher?.close()
        subscriber?.close()
        publisher = nil
        subscriber = nil
        channels = []
    }

    // MARK: Negotiation

    func negotiate(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            submit(.negotiationFailed(reason: String(describing: error)))
        }
    }

    func makeOffer() throws {
        guard let publisher else { return }
        let offer = try publisher.createOffer(iceRestart: restartsICE)
        restartsICE = false
        try publisher.setLocalDescription(offer)
        submit(.offerMade(sdp: offer.sdp))
    }

    func apply(answer sdp: String) throws {
        guard let publisher else { return }
        try publisher.setRemoteDescription(RTCTransport.SessionDescription(kind: .answer, sdp: sdp))
        if machine.path == .v1 { reportReceiving(publisher) }
    }

    func apply(offer sdp: String, id: UInt32) throws {
        guard let subscriber else { return }
        try subscriber.setRemoteDescription(RTCTransport.SessionDescription(kind: .offer, sdp: sdp))
        let answer = try subscriber.createAnswer()
        try subscriber.setLocalDescription(answer)
        submit(.answerMade(sdp: answer.sdp, id: id))
        reportReceiving(subscriber)
    }

    private func reportReceiving(_ connection: PeerConnection) {
        submit(
            .receiving(
                connection.transceivers.compactMap { transceiver in
                    guard transceiver.kind == .audio, transceiver.currentDirection?.receives == true,
                        let mid = transceiver.mid, let msid = transceiver.remoteMsid
                    else { return nil }
                    return RoomStateMachine.Receiving(mid: mid, stream: msid.stream, track: msid.track)
                }))
    }

    func addSender(cid: String, stream: String, redundant: Bool) {
        guard let track = tracks[cid], let publisher else { return }
        let transceiver = publisher.addTransceiver(
            kind: .audio, direction: .sendonly, msid: MediaStreamID(stream: stream, track: cid))
        transceiver.redEnabled = redundant
        track.transceiver = transceiver
    }

    func bind(mid: String, trackSid: String) {
        let connection = machine.path == .v1 ? publisher : subscriber
        guard let transceiver = connection?.transceivers.first(where: { $0.mid == mid }) else { return }
        subscriptions[trackSid] = transceiver
        transceiver.onFrame = { [weak self] frame in self?.onAudioFrame?(trackSid, frame) }
    }

    // MARK: Data

    private func listen(to channel: DataChannel) {
        channel.onMessage = { [weak self] bytes, isBinary in
            guard isBinary, let self else { return }
            do {
                for packet in try inbox.receive(bytes) { onEvent?(.data(packet)) }
            } catch {
                onEvent?(.warning("a data packet of \(bytes.count) bytes was dropped: \(error)"))
            }
        }
    }
}
