import AgentCore
import LiveKitProtocol
import LoopCore
import RTCTransport

/// A room and what it saw; the owner of a room in tests.
actor RoomClient {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var room: AgentCore.Room?
    private var track: LocalAudioTrack?
    private var sender: LoopTimer?
    private var timestamp: UInt32 = 0
    private(set) var events: [RoomEvent] = []
    private(set) var frames: [String: Int] = [:]
    /// How requests ended.
    private(set) var answers: [String] = []

    init(loop: EventLoop) { self.loop = loop }

    func join(
        _ url: String, token: String, dual: Bool = false, publish: Bool = true,
        regions: RoomStateMachine.RegionUse = .never
    ) {
        var options = AgentCore.Room.Options()
        options.loopbackOnly = true
        options.regions = regions
        if dual { options.peerConnections = .dual }
        let room = AgentCore.Room(loop: loop, options: options)
        room.onEvent = { [self] in events.append($0) }
        room.onAudioFrame = { [self] sid, frame in if !frame.isRedundant { frames[sid, default: 0] += 1 } }
        room.connect(url: url, token: token)
        if publish { track = room.publishAudio() }
        self.room = room
    }

    /// Sends silence, a frame every 20 ms.
    func startSending() {
        sender = loop.schedule(every: .milliseconds(20), startingAt: .now) { [self] in
            timestamp &+= 960
            track?.send(opus: [0xf8, 0xff, 0xfe], timestamp: timestamp, marker: false, audioLevel: 127)
        }
    }

    func send(_ packet: DataPacket, reliable: Bool = true) throws { try room?.sendData(packet, reliable: reliable) }
    func rename(_ name: String, metadata: String) {
        func note(_ what: String, _ result: Result<Void, RequestError>) {
            switch result {
            case .success: answers.append("\(what): done")
            case .failure(let error): answers.append("\(what): \(error)")
            }
        }
        room?.updateName(name) { note("name", $0) }
        room?.updateMetadata(metadata) { note("metadata", $0) }
    }
    func setAttributes(_ attributes: [String: String]) { room?.updateAttributes(attributes) }
    func leave() {
        sender = nil
        room?.leave()
    }

    /// Times that a lost connection came back.
    var reconnects: Int { events.count { if case .reconnected = $0 { true } else { false } } }
    var isConnected: Bool { events.contains(.connectionStateChanged(.connected)) }
    var cause: DisconnectCause? {
        for case .disconnected(let cause) in events { return cause }
        return nil
    }
    var payloads: [[UInt8]] {
        events.compactMap { event in
            guard case .data(let packet) = event, case .user(let user)? = packet.value else { return nil }
            return user.payload
        }
    }
    var local: Participant? { room?.localParticipant }
    var others: [String: Participant] { room?.remoteParticipants ?? [:] }
    var totalFrames: Int { frames.values.reduce(0, +) }

    func wait(_ seconds: Double = 10, until condition: @Sendable (isolated RoomClient) -> Bool) async -> Bool {
        let end = MonotonicTime.now + .milliseconds(Int64(seconds * 1000))
        while MonotonicTime.now < end {
            if condition(self) { return true }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return condition(self)
    }
}
