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
    /// The queue of reliable data is short again after a send was refused as full.
    public var onDataDrained: (() -> Void)?

    let loop: EventLoop
    let options: Options
    var machine: RoomStateMachine
    private var inputs: [RoomStateMachine.Input] = []
    private var isDraining = false
    private var wakeup: LoopTimer?
    private var ticker: LoopTimer?

    private var socket: WebSocket?
    private let http: HTTPClient
    var publisher: PeerConnection?
    var subscriber: PeerConnection?
    let reliable = DataSender(isReliable: true)
    let lossy = DataSender(isReliable: false)
    var channels: [DataChannel] = []
    var inbox = DataInbox()
    var tracks: [String: LocalAudioTrack] = [:]
    var subscriptions: [String: Transceiver] = [:]
    private var times = ConnectTimings()
    private var requests: [UInt32: (Result<Void, RequestError>) -> Void] = [:]
    private var nextRequestID: UInt32 = 1
    private var hasToldOfData = false
    /// The next offer restarts ICE.
    var restartsICE = false
    var ended: (timings: ConnectTimings, statistics: RoomStatistics)?

    /// Events of the last session's end are delivered even if the owner drops the room in between.
    public init(loop: EventLoop, options: Options = Options()) {
        self.loop = loop
        self.options = options
        http = HTTPClient(loop: loop, options: options.web)
        var configuration = RoomStateMachine.Configuration()
        configuration.autoSubscribe = options.autoSubscribe
        configuration.path = options.peerConnections == .dual ? .v0 : .v1
        configuration.fallsBack = options.peerConnections == .automatic
        configuration.clientInfo = options.clientInfo
        configuration.limits = options.limits
        configuration.maximumReconnects = options.maximumReconnects
        configuration.renewsToken = options.renewsToken
        configuration.regions = options.regions
        machine = RoomStateMachine(configuration: configuration)
        reliable.onDrained = { [weak self] in self?.onDataDrained?() }
        for sender in [reliable, lossy] {
            sender.onDropped = { [weak self] in self?.onEvent?(.warning("a data packet was dropped: \($0)")) }
        }
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
    ///
    /// A room is joined once; a second call changes nothing.
    public func connect(url: String, token: String) {
        guard times.started == nil else { return }
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
        guard !hasToldOfData else { return }
        hasToldOfData = true
        submit(.dataWaits)
    }

    /// Bytes of reliable data that wait to be sent.
    public var bufferedDataAmount: Int { reliable.bufferedAmount }

    /// Asks the server to change attributes of this participant; an empty value removes one. Before the room is
    /// joined the request waits for that.
    ///
    /// The change itself comes as ``RoomEvent/participantUpdated(_:previous:)``.
    /// - Parameter completion: called once, on the loop and never from inside this call; not when the room is dropped.
    public func updateAttributes(
        _ attributes: [String: String], completion: ((Result<Void, RequestError>) -> Void)? = nil
    ) {
        var update = UpdateParticipantMetadata()
        update.attributes = attributes
        request(update, completion)
    }

    /// Asks the server to change the metadata of this participant, as ``updateAttributes(_:completion:)`` does. Empty
    /// metadata changes nothing.
    public func updateMetadata(_ metadata: String, completion: ((Result<Void, RequestError>) -> Void)? = nil) {
        var update = UpdateParticipantMetadata()
        update.metadata = metadata
        request(update, completion)
    }

    /// Asks the server to change the name of this participant, as ``updateAttributes(_:completion:)`` does. An empty
    /// name changes nothing.
    public func updateName(_ name: String, completion: ((Result<Void, RequestError>) -> Void)? = nil) {
        var update = UpdateParticipantMetadata()
        update.name = name
        request(update, completion)
    }

    private func request(_ update: UpdateParticipantMetadata, _ completion: ((Result<Void, RequestError>) -> Void)?) {
        var update = update
        update.requestId = nextRequestID
        nextRequestID &+= 1
        // Before it is sent: the answer may be quick.
        requests[update.requestId] = completion
        submit(.updateMetadata(update))
    }

    /// Answers ``RoomEvent/tokenNeeded``; nil where there is no other token, which ends the session.
    public func renew(token: String?) {
        submit(.tokenRenewed(token))
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
        result.droppedDataPackets = lossy.droppedPackets
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
        case .useICEServers(let servers, let relayOnly): use(servers, relayOnly: relayOnly)
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
        case .fetchRegions(let url, let token): fetchRegions(url, token)
        case .send(let request): send(request)
        case .closeSocket:
            socket?.onEvent = nil
            socket?.close()
            socket = nil
        case .closeTransports: closeTransports()
        case .updateICEServers(let servers): updateICEServers(servers)
        case .restartICE: restartsICE = true
        case .sendSyncState(let state): send(state)
        case .replayData(let sequence): reliable.replay(after: sequence)
        case .restartData: restartData()
        case .bind(let mid, let trackSid): bind(mid: mid, trackSid: trackSid)
        case .unbind(let trackSid): subscriptions.removeValue(forKey: trackSid)?.onFrame = nil
        case .requestEnded(let id, let error):
            requests.removeValue(forKey: id)?(error.map { .failure($0) } ?? .success(()))
        case .event(let event): emit(event)
        }
    }

    private func emit(_ event: RoomEvent) {
        switch event {
        case .joined: times.joined = .now
        // A track that is published anew has another one.
        case .localTrackPublished(let cid, let track): tracks[cid]?.sid = track.sid
        case .localTrackUnpublished(let sid): forget { $0.sid == sid }
        case .publishFailed(let cid, _): forget { $0.cid == cid }
        case .localTrackMuted(let sid, let isMuted): tracks.values.first { $0.sid == sid }?.isMuted = isMuted
        default: break
        }
        onEvent?(event)
        if event == .connectionStateChanged(.connected) {
            for packet in inbox.open() { onEvent?(.data(packet)) }
            if inbox.droppedEarly > 0 {
                onEvent?(.warning("\(inbox.droppedEarly) data packets came too early and were dropped"))
            }
        }
        if case .disconnected = event { ticker = nil }
    }

    /// A track is no longer published: nothing of it is sent, nor offered again.
    private func forget(_ isTrack: (LocalAudioTrack) -> Bool) {
        for (cid, track) in tracks where isTrack(track) {
            track.transceiver?.direction = .inactive
            track.transceiver = nil
            tracks[cid] = nil
        }
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

    func send(_ request: SignalRequest) {
        socket?.send(binary: request.serializedBytes())
    }

    private func fetchRegions(_ url: String, _ token: String) {
        let request = HTTPRequest(url: url, headers: HTTPHeaders([("Authorization", "Bearer " + token)]))
        _ = http.send(request, timeout: options.limits.regions) { [weak self] result in
            let response = try? result.get()
            self?.submit(.regionsFound(response?.status == 200 ? RegionList.urls(response?.body ?? []) : nil))
        }
    }

    private func validate(_ generation: Int, _ url: String, _ token: String) {
        let request = HTTPRequest(url: url, headers: HTTPHeaders([("Authorization", "Bearer " + token)]))
        _ = http.send(request, timeout: options.limits.validation) { [weak self] result in
            let response = try? result.get()
            self?.submit(.validated(generation: generation, status: response?.status, body: response?.text ?? ""))
        }
    }
}
