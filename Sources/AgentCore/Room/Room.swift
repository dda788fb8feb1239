public import LiveKitProtocol
public import LoopCore
public import RTCTransport
import WebIO

/// A connection to a LiveKit room: drives a ``RoomStateMachine`` with a WebSocket, peer connections and a clock.
///
/// Confined to the loop, and to the actor that owns it. Events come on the loop, never from inside a call.
public final class Room {
    public var onEvent: ((RoomEvent) -> Void)?
    /// Opus frames of subscribed tracks, in the order of arrival.
    public var onAudioFrame: ((_ trackSid: String, ReceivedFrame) -> Void)?
    /// The data queue is short again after a send was refused as full.
    public var onDataDrained: (() -> Void)?

    private let loop: EventLoop
    private let options: Options
    private var machine: RoomStateMachine
    private var inputs: [RoomStateMachine.Input] = []
    private var isDraining = false
    private var wakeup: LoopTimer?
    private var ticker: LoopTimer?

    private var socket: WebSocket?
    private let http: HTTPClient
    private var publisher: PeerConnection?
    private var subscriber: PeerConnection?
    private let reliable = DataSender(isReliable: true)
    private let lossy = DataSender(isReliable: false)
    private var channels: [DataChannel] = []
    private var inbox = DataInbox()
    private var tracks: [String: LocalAudioTrack] = [:]
    private var subscriptions: [String: Transceiver] = [:]
    private var times = ConnectTimings()
    private var ended: (timings: ConnectTimings, statistics: RoomStatistics)?

    /// Events of the last session's end are delivered even if the owner drops the room in between.
    public init(loop: EventLoop, options: Options = Options()) {
        self.loop = loop
        self.options = options
        http = HTTPClient(loop: loop, options: options.web)
        var configuration = RoomStateMachine.Configuration()
        configuration.autoSubscribe = options.autoSubscribe
        configuration.path = options.peerConnections == .dual ? .v0 : .v1
        configuration.clientInfo = options.clientInfo
        configuration.limits = options.limits
        machine = RoomStateMachine(configuration: configuration)
        reliable.onDrained = { [weak self] in self?.onDataDrained?() }
    }

    deinit {
        socket?.abort()
        publisher?.close()
        subscriber?.close()
    }

    // MARK: Calls

    /// Joins a room. What comes of it arrives as events.
    /// - Parameters:
    ///   - url: of the server: `ws`, `wss`, `http` or `https`.
    ///   - token: the JWT; it goes into a header and never into an event or an error.
    public func connect(url: String, token: String) {
        times.started = .now
        ticker = loop.schedule(every: .milliseconds(100), startingAt: .now + .milliseconds(100)) { [weak self] in
            self?.submit(.tick)
        }
        submit(.connect(url: url, token: token))
    }

    /// Publishes an audio track, now or as soon as the room is joined.
    public func publishAudio(_ options: AudioPublishOptions = AudioPublishOptions()) -> LocalAudioTrack {
        var request = AddTrackRequest()
        request.cid = "TR_AM" + Self.randomID()
        request.name = options.name
        request.type = .audio
        request.source = options.source
        request.muted = options.isMuted
        request.disableDtx = !options.dtx
        request.disableRed = !(options.redundant && self.options.allowsRedundantAudio)
        request.audioFeatures = options.features + (options.dtx ? [] : [.noDtx])
        let track = LocalAudioTrack(cid: request.cid, isMuted: options.isMuted, room: self)
        tracks[track.cid] = track
        submit(.publish(request))
        return track
    }

    /// Sends a data packet, or queues it until the channel can take it. Destinations are in the packet; none means
    /// everybody else. Data sent to a participant that is not active yet is lost by the server.
    /// - Throws: ``DataSendError``.
    public func sendData(_ packet: DataPacket, reliable isReliable: Bool = true) throws(DataSendError) {
        try (isReliable ? reliable : lossy).send(packet)
    }

    /// Bytes of reliable data that wait to be sent.
    public var bufferedDataAmount: Int { reliable.bufferedAmount }

    /// Asks the server to change attributes of this participant; an empty value removes one. The answer comes as
    /// ``RoomEvent/requestAnswered(_:)``, the change as ``RoomEvent/participantUpdated(_:previous:)``.
    public func updateAttributes(_ attributes: [String: String]) {
        var update = UpdateParticipantMetadata()
        update.attributes = attributes
        submit(.updateMetadata(update))
    }

    /// Leaves within the call: the leave is sent and everything is closed when it returns.
    public func leaveNow() {
        submit(.leave)
        drain()
    }

    /// Leaves the room. `.disconnected` follows at once.
    public func leave() {
        submit(.leave)
    }

    // MARK: State

    public var localParticipant: Participant? { machine.local }
    /// The others, by identity.
    public var remoteParticipants: [String: Participant] { machine.remotes }
    public var roomName: String? { machine.room?.name }
    public var isConnected: Bool { machine.phase == .connected }
    var isMediaReady: Bool { publisher?.isMediaReady == true }

    public var timings: ConnectTimings {
        if let ended { return ended.timings }
        var result = times
        let primary = machine.subscriberPrimary ? subscriber : publisher
        result.iceConnected = primary?.timings.iceConnected
        result.dtlsConnected = primary?.timings.dtlsConnected
        result.firstPacketSent = publisher?.timings.firstPacketSent
        result.firstPacketReceived = (subscriber ?? publisher)?.timings.firstPacketReceived
        return result
    }

    /// Of the session as it stands, or as it was when it ended.
    public var statistics: RoomStatistics {
        if let ended { return ended.statistics }
        var result = RoomStatistics()
        for (cid, track) in tracks {
            if let transceiver = track.transceiver { result.sent[cid] = transceiver.senderStatistics }
        }
        result.received = subscriptions.mapValues(\.receiverStatistics)
        result.signalRoundTripMilliseconds = machine.roundTripMilliseconds
        result.candidatePair = publisher?.selectedCandidatePair
        return result
    }

    private static func randomID() -> String {
        let alphabet = Array("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return String((0..<12).map { _ in alphabet.randomElement() ?? "a" })
    }

    // MARK: The machine

    /// Queues an input; it is handled from the loop, in order, and never inside another one.
    func submit(_ input: RoomStateMachine.Input) {
        inputs.append(input)
        guard !isDraining, wakeup == nil else { return }
        wakeup = loop.schedule(after: .zero) { [weak self] in
            self?.wakeup = nil
            self?.drain()
        }
    }

    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        while !inputs.isEmpty {
            for effect in machine.handle(inputs.removeFirst(), now: .now) { perform(effect) }
        }
        isDraining = false
    }

    private func perform(_ effect: RoomStateMachine.Effect) {
        switch effect {
        case .makeTransports(let path): makeTransports(path)
        case .useICEServers(let servers, _): use(servers)
        case .makeOffer: negotiate { [self] in try makeOffer() }
        case .applyAnswer(let sdp): negotiate { [self] in try apply(answer: sdp) }
        case .applyOffer(let sdp, let id): negotiate { [self] in try apply(offer: sdp, id: id) }
        case .addCandidate(let target, let json):
            guard let candidate = ICECandidate(json: json) else { return }
            (target == .subscriber ? subscriber : publisher)?.add(candidate)
        case .addReceivers(let count):
            for _ in 0..<count { _ = publisher?.addTransceiver(kind: .audio, direction: .recvonly) }
        case .addSender(let cid, let stream, let redundant): addSender(cid: cid, stream: stream, redundant: redundant)
        case .openSocket(let generation, let url, let token): openSocket(generation, url, token)
        case .validate(let generation, let url, let token): validate(generation, url, token)
        case .send(let request): socket?.send(binary: request.serializedBytes())
        case .closeSocket:
            socket?.onEvent = nil
            socket?.close()
            socket = nil
        case .closeTransports: closeTransports()
        case .bind(let mid, let trackSid): bind(mid: mid, trackSid: trackSid)
        case .unbind(let trackSid): subscriptions.removeValue(forKey: trackSid)?.onFrame = nil
        case .event(let event): emit(event)
        }
    }

    private func emit(_ event: RoomEvent) {
        switch event {
        case .joined: times.joined = .now
        case .localTrackPublished(let cid, let track): tracks[cid]?.sid = track.sid
        case .localTrackMuted(let sid, let isMuted): tracks.values.first { $0.sid == sid }?.isMuted = isMuted
        default: break
        }
        onEvent?(event)
        if event == .connectionStateChanged(.connected) {
            for packet in inbox.open() { onEvent?(.data(packet)) }
        }
        if case .disconnected = event { ticker = nil }
    }

    // MARK: Signaling

    private func openSocket(_ generation: Int, _ url: String, _ token: String) {
        let headers = HTTPHeaders([("Authorization", "Bearer " + token)])
        socket = WebSocket.connect(loop: loop, url: url, headers: headers, options: options.web) { [weak self] event in
            self?.handle(event, generation)
        }
    }

    private func handle(_ event: WebSocket.Event, _ generation: Int) {
        switch event {
        case .opened:
            times.socketOpened = .now
            submit(.socketOpened(generation: generation))
        case .binary(let bytes):
            do {
                submit(.received(generation: generation, try SignalResponse(serializedBytes: bytes)))
            } catch {
                onEvent?(.warning("a signal message of \(bytes.count) bytes was dropped: \(error)"))
            }
        case .text: onEvent?(.warning("a text frame was dropped: signaling is binary"))
        case .closed(let code, let reason):
            submit(.socketClosed(generation: generation, reason: reason.isEmpty ? "closed with code \(code)" : reason))
        case .failed(.handshake(let response)):
            submit(.socketRefused(generation: generation, status: response.status, body: response.text))
        case .failed(let error): submit(.socketFailed(generation: generation, reason: error.description))
        }
        drain()
    }

    private func validate(_ generation: Int, _ url: String, _ token: String) {
        let request = HTTPRequest(url: url, headers: HTTPHeaders([("Authorization", "Bearer " + token)]))
        _ = http.send(request, timeout: options.limits.validation) { [weak self] result in
            let response = try? result.get()
            self?.submit(.validated(generation: generation, status: response?.status, body: response?.text ?? ""))
        }
    }

    // MARK: Transports

    private func makeTransports(_ path: LiveKitURL.SignalPath) {
        closeTransports()
        // With two connections the servers come first, see `use`.
        guard path == .v1 else { return }
        makePublisher(servers: options.iceServers ?? [], defersGathering: true)
    }

    private func use(_ servers: [LiveKitProtocol.ICEServer]) {
        let servers =
            options.iceServers
            ?? servers.map { ICEServer(urls: $0.urls, username: $0.username, credential: $0.credential) }
        if machine.path == .v1 {
            publisher?.setICEServers(servers)
            publisher?.startGathering()
            return
        }
        makePublisher(servers: servers, defersGathering: false)
        subscriber = makeConnection(.subscriber, servers: servers, defersGathering: false)
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

    private func closeTransports() {
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

    private func negotiate(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            submit(.negotiationFailed(reason: String(describing: error)))
        }
    }

    private func makeOffer() throws {
        guard let publisher else { return }
        let offer = try publisher.createOffer()
        try publisher.setLocalDescription(offer)
        submit(.offerMade(sdp: offer.sdp))
    }

    private func apply(answer sdp: String) throws {
        guard let publisher else { return }
        try publisher.setRemoteDescription(RTCTransport.SessionDescription(kind: .answer, sdp: sdp))
        if machine.path == .v1 { reportReceiving(publisher) }
    }

    private func apply(offer sdp: String, id: UInt32) throws {
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

    private func addSender(cid: String, stream: String, redundant: Bool) {
        guard let track = tracks[cid], let publisher else { return }
        let transceiver = publisher.addTransceiver(
            kind: .audio, direction: .sendonly, msid: MediaStreamID(stream: stream, track: cid))
        transceiver.redEnabled = redundant
        track.transceiver = transceiver
    }

    private func bind(mid: String, trackSid: String) {
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
