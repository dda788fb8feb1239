import AgentCore
import AudioPipeline
import LiveKitProtocol
import LoopCore
import RTCTransport

/// An agent of the tests' own: keeps every RTP frame and byte stream that it gets, as they came.
actor ListeningAgent {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var room: AgentCore.Room?
    private var frames: [UInt32: [UInt8]] = [:]
    private var reader = DataStreamReader()
    private var contents: [String: [UInt8]] = [:]
    private(set) var streams: [(info: DataStreamReader.Info, bytes: [UInt8])] = []
    private(set) var features: [AudioTrackFeature] = []
    private(set) var mutes: [Bool] = []
    private var rpc = RPCEndpoint()
    private var nextCall = 0
    private var calls: [String: CheckedContinuation<Result<String, RPCError>, Never>] = [:]

    init(loop: EventLoop = EventLoop(name: "test-agent")) { self.loop = loop }

    func join(_ url: String, token: String, autoSubscribe: Bool = true) {
        var options = AgentCore.Room.Options()
        options.loopbackOnly = true
        options.autoSubscribe = autoSubscribe
        let room = AgentCore.Room(loop: loop, options: options)
        room.onEvent = { [self] in handle($0) }
        room.onAudioFrame = { [self] _, frame in if !frame.isRedundant { frames[frame.timestamp] = frame.payload } }
        room.connect(url: url, token: token)
        self.room = room
    }

    func leave() {
        room?.leaveNow()
        room = nil
    }

    private func handle(_ event: RoomEvent) {
        switch event {
        case .data(let packet):
            for event in reader.receive(packet, now: .now) { take(event) }
            perform(rpc.receive(packet, now: .now))
        case .participantUpdated(let participant, let previous):
            guard let track = participant.tracks.first, let before = previous.tracks.first,
                track.isMuted != before.isMuted
            else { return }
            mutes.append(track.isMuted)
        default: break
        }
    }

    /// Calls a method of a participant.
    func call(_ callee: String, _ method: String, _ payload: String) async -> Result<String, RPCError> {
        await withCheckedContinuation { continuation in
            let id = "call-\(nextCall)"
            nextCall += 1
            calls[id] = continuation
            perform(rpc.call(id: id, callee: callee, method: method, payload: payload, now: .now))
        }
    }

    private func perform(_ output: RPCEndpoint.Output) {
        for packet in output.packets { try? room?.sendData(packet) }
        for case .ended(let id, let result) in output.events {
            calls.removeValue(forKey: id)?.resume(returning: result)
        }
    }

    private func take(_ event: DataStreamReader.Event) {
        switch event {
        case .opened(let info): contents[info.streamID] = []
        case .bytes(let bytes, let info): contents[info.streamID, default: []] += bytes
        case .closed(let info): streams.append((info, contents[info.streamID] ?? []))
        default: break
        }
    }

    var frameCount: Int { frames.count }

    /// The samples of a byte stream of 16-bit PCM.
    static func samples(_ bytes: [UInt8]) -> [Int16] {
        stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    /// The track decoded frame by frame as its timestamps say, without a jitter buffer; what was not sent is silence.
    func decoded() throws -> [Int16] {
        guard let first = frames.keys.min(), let last = frames.keys.max() else { return [] }
        let decoder = try OpusDecoder()
        var samples: [Int16] = []
        var timestamp = first
        while timestamp <= last {
            if let payload = frames[timestamp] {
                samples += try decoder.decode(payload)
            } else {
                samples += [Int16](repeating: 0, count: 960)
            }
            timestamp += 960
        }
        return samples
    }
}
