import LoopCore
import RTCTransport

/// Two peer connections on one loop, trickling to each other; the owner of both in every test.
actor PeerConnectionPair {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    var offerer: PeerConnection?
    var answerer: PeerConnection?
    private(set) var states: [String] = []
    private(set) var candidates: [String] = []
    private(set) var gathered: Set<String> = []
    private(set) var frames: [ReceivedFrame] = []
    private(set) var backFrames: [ReceivedFrame] = []
    private(set) var packets: [RTPPacket] = []
    private(set) var messages: [String] = []
    private var channels: [DataChannel] = []
    private var openChannels: Set<String> = []
    private var timestamp: UInt32 = 0

    init(loop: EventLoop) { self.loop = loop }

    func make(
        offerer first: PeerConnection.Configuration = .loopback,
        answerer second: PeerConnection.Configuration = .loopback
    ) throws {
        let offerer = try PeerConnection(loop: loop, configuration: first)
        let answerer = try PeerConnection(loop: loop, configuration: second)
        offerer.onEvent = { [self] in handle($0, name: "offerer") }
        answerer.onEvent = { [self] in handle($0, name: "answerer") }
        self.offerer = offerer
        self.answerer = answerer
    }

    private func handle(_ event: PeerConnection.Event, name: String) {
        let other = name == "offerer" ? answerer : offerer
        switch event {
        case .iceCandidate(let candidate):
            candidates.append("\(name) \(candidate.candidate)")
            other?.add(candidate)
        case .iceGatheringComplete: gathered.insert(name)
        case .connectionStateChanged(let state, _): states.append("\(name) \(state.rawValue)")
        case .transceiverChanged(let transceiver):
            transceiver.onFrame = { [self] frame in
                if name == "answerer" { frames.append(frame) } else { backFrames.append(frame) }
            }
        case .dataChannel(let channel): adopt(channel, name: name)
        default: break
        }
    }

    func adopt(_ channel: DataChannel, name: String) {
        channels.append(channel)
        channel.onOpen = { [self] in openChannels.insert("\(name) \(channel.label)") }
        channel.onMessage = { [self] bytes, _ in
            messages.append("\(name) \(channel.label) \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    func createChannel(_ label: String, ordered: Bool = true, maxRetransmits: UInt16? = nil) {
        guard let offerer else { return }
        adopt(
            offerer.createDataChannel(label: label, ordered: ordered, maxRetransmits: maxRetransmits), name: "offerer")
    }

    func sendOnChannels(_ text: String) throws {
        for channel in channels where channel.readyState == .open { try channel.send(binary: Array(text.utf8)) }
    }

    func isOpen(_ name: String) -> Bool { openChannels.contains(name) }

    /// One offer/answer exchange; `direction` and `msid` are the answerer's for the first section, `alter` changes the
    /// offer on its way.
    func negotiate(
        iceRestart: Bool = false, answering direction: MediaDirection? = nil, msid: MediaStreamID? = nil,
        alter: @Sendable (String) -> String = { $0 }
    ) throws {
        guard let offerer, let answerer else { return }
        let offer = try offerer.createOffer(iceRestart: iceRestart)
        try offerer.setLocalDescription(offer)
        try answerer.setRemoteDescription(SessionDescription(kind: .offer, sdp: alter(offer.sdp)))
        if let direction { answerer.transceivers[0].direction = direction }
        if let msid { answerer.transceivers[0].msid = msid }
        let answer = try answerer.createAnswer()
        try answerer.setLocalDescription(answer)
        try offerer.setRemoteDescription(answer)
    }

    func addAudio(_ direction: MediaDirection, track: String = "track") {
        _ = offerer?.addTransceiver(
            kind: .audio, direction: direction, msid: MediaStreamID(stream: "stream", track: track))
    }

    /// Sends `count` frames, numbered in their payload, at once.
    func sendFrames(_ count: Int, from side: Side, at index: Int = 0) {
        let connection = side == .offerer ? offerer : answerer
        for number in 0..<count {
            timestamp &+= 960
            connection?.transceivers[index].send(
                opus: [0xf8, UInt8(truncatingIfNeeded: number)], timestamp: timestamp, marker: false, audioLevel: 30)
        }
    }

    enum Side { case offerer, answerer }

    /// Looks at the connections from the loop.
    func read<Value: Sendable>(_ body: @Sendable (isolated PeerConnectionPair) -> Value) -> Value { body(self) }

    /// Makes the offerer's first description, as one that does not know its servers yet.
    func offerAlone(requiringRelay: Bool) throws {
        guard let offerer else { return }
        try offerer.setLocalDescription(offerer.createOffer())
        if requiringRelay { offerer.requireRelay() }
        offerer.startGathering()
    }

    func states(of name: String) -> [String] { states.filter { $0.hasPrefix(name) } }

    func close() {
        offerer?.close()
        answerer?.close()
    }

    /// Waits until `condition` holds, up to `seconds`; returns whether it does.
    func wait(_ seconds: Double = 10, until condition: @Sendable (isolated PeerConnectionPair) -> Bool) async -> Bool {
        let end = MonotonicTime.now + .milliseconds(Int64(seconds * 1000))
        while MonotonicTime.now < end {
            if condition(self) { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return condition(self)
    }

    func waitConnected() async -> Bool {
        await wait { $0.offerer?.connectionState == .connected && $0.answerer?.connectionState == .connected }
    }
}

extension PeerConnection.Configuration {
    static var loopback: PeerConnection.Configuration {
        var configuration = PeerConnection.Configuration()
        configuration.loopbackOnly = true
        return configuration
    }
}
