import AgentCore
import AudioPipeline
import Foundation
import LiveKitProtocol
import LoopCore
import RTCTransport

/// A client of a room for tests: keeps everything that happens, speaks tones or PCM, and decodes what it hears.
actor TestUser {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private(set) var events: [RoomEvent] = []
    private(set) var packets: [DataPacket] = []
    private var room: AgentCore.Room?
    private var track: LocalAudioTrack?
    private var receivers: [String: AudioReceiver] = [:]
    private var heard: [String: [Int16]] = [:]
    private var clock: LoopTimer?
    private var encoder: OpusEncoder?
    private var pcm: [Int16] = []
    private var position = 0
    private var timestamp: UInt32 = 0
    private var isSpeaking = false

    init(loop: EventLoop = EventLoop(name: "test-user")) {
        self.loop = loop
    }

    func join(
        _ url: String, token: String, dual: Bool = false, autoSubscribe: Bool = true, publishes: Bool = true,
        configure: @Sendable (inout AgentCore.Room.Options) -> Void = { _ in }
    ) throws {
        var options = AgentCore.Room.Options()
        options.loopbackOnly = true
        options.autoSubscribe = autoSubscribe
        options.peerConnections = dual ? .dual : .automatic
        configure(&options)
        encoder = try OpusEncoder()
        let room = AgentCore.Room(loop: loop, options: options)
        room.onEvent = { [self] in handle($0) }
        room.onAudioFrame = { [self] in received($0, $1) }
        if publishes { track = room.publishAudio() }
        room.connect(url: url, token: token)
        self.room = room
        clock = loop.schedule(every: .milliseconds(20), startingAt: .now) { [self] in tick() }
    }

    func leave() {
        room?.leave()
    }

    /// Drops the connection without a goodbye.
    func vanish() {
        clock = nil
        room = nil
    }

    private func handle(_ event: RoomEvent) {
        events.append(event)
        switch event {
        case .data(let packet): packets.append(packet)
        case .trackSubscribed(let sid, _): receivers[sid] = try? AudioReceiver()
        case .trackUnsubscribed(let sid): receivers[sid] = nil
        case .disconnected:
            clock = nil
            room?.onEvent = nil
            room?.onAudioFrame = nil
        default: break
        }
    }

    // MARK: Sound

    private func received(_ sid: String, _ frame: ReceivedFrame) {
        receivers[sid]?.insert(
            payload: frame.payload, timestamp: frame.timestamp, sequenceNumber: frame.sequenceNumber,
            isRedundant: frame.isRedundant, ssrc: frame.ssrc, arrival: frame.arrival)
    }

    private func tick() {
        for (sid, receiver) in receivers {
            let samples = receiver.pull(frames: 960, at: .now)
            // A test lasts seconds; 60 of them are kept.
            if heard[sid]?.count ?? 0 < 60 * 48_000 { heard[sid, default: []] += samples }
        }
        guard isSpeaking else { return }
        var samples = Array(pcm.dropFirst(position).prefix(960))
        position += samples.count
        samples += [Int16](repeating: 0, count: 960 - samples.count)
        timestamp &+= 960
        guard let payload = try? encoder?.encode(samples) else { return }
        track?.send(opus: payload, timestamp: timestamp, marker: false, audioLevel: AudioLevel.dBov(samples))
    }

    /// Speaks from now on, then goes on with silence.
    func speak(_ samples: [Int16]) {
        pcm = samples
        position = 0
        isSpeaking = true
    }

    func speak(tone frequency: Double, seconds: Double) {
        speak((0..<Int(seconds * 48_000)).map { Int16(12_000 * sin(2 * .pi * frequency * Double($0) / 48_000)) })
    }

    var hasSpoken: Bool { position >= pcm.count }

    func heard(_ sid: String) -> [Int16] { heard[sid] ?? [] }

    /// All of what was heard that is not silence, of whatever track.
    var loud: [Int16] {
        heard.values.flatMap { samples -> ArraySlice<Int16> in
            guard let first = samples.firstIndex(where: { abs(Int($0)) > 300 }),
                let last = samples.lastIndex(where: { abs(Int($0)) > 300 })
            else { return [] }
            return samples[first...last]
        }
    }

    /// What it says goes out.
    var isLive: Bool { track?.isLive ?? false }
    /// Somebody is subscribed to it.
    var isHeard: Bool { events.contains { if case .localTrackSubscribed = $0 { true } else { false } } }

    func setMuted(_ isMuted: Bool) { track?.setMuted(isMuted) }

    // MARK: The room

    func send(_ packet: DataPacket, reliable: Bool = true) throws {
        try room?.sendData(packet, reliable: reliable)
    }

    /// Sends a text stream of one chunk.
    func sendText(_ text: String, topic: String, to identities: [String] = []) throws {
        var header = DataStream.Header()
        header.streamId = UUID().uuidString
        header.topic = topic
        header.mimeType = "text/plain"
        header.contentHeader = .textHeader(.init())
        var chunk = DataStream.Chunk()
        chunk.streamId = header.streamId
        chunk.content = Array(text.utf8)
        var trailer = DataStream.Trailer()
        trailer.streamId = header.streamId
        for value in [DataPacket.Value.streamHeader(header), .streamChunk(chunk), .streamTrailer(trailer)] {
            var packet = DataPacket()
            packet.value = value
            packet.destinationIdentities = identities
            try send(packet)
        }
    }

    func update(_ attributes: [String: String]) { room?.updateAttributes(attributes) }

    var others: [String: Participant] { room?.remoteParticipants ?? [:] }
    var local: Participant? { room?.localParticipant }
    var isConnected: Bool { room?.isConnected ?? false }
    var subscribedSids: [String] { Array(receivers.keys) }
    var statistics: RoomStatistics? { room?.statistics }

    var cause: DisconnectCause? {
        for case .disconnected(let cause) in events { return cause }
        return nil
    }

    func has(_ test: @Sendable (RoomEvent) -> Bool) -> Bool { events.contains(where: test) }

    /// The texts of user packets, with who sent them.
    var userPackets: [String] {
        packets.compactMap { packet in
            guard case .user(let user) = packet.value else { return nil }
            return "\(packet.participantIdentity): \(String(decoding: user.payload, as: UTF8.self))"
        }
    }

    /// The packets of transcription streams, put together by segment: what stood there last.
    var transcripts: [Transcript] {
        var streams: [String: Transcript] = [:]
        var order: [String] = []
        for packet in packets {
            switch packet.value {
            case .streamHeader(let header) where header.topic == "lk.transcription":
                streams[header.streamId] = Transcript(
                    segment: header.attributes["lk.segment_id"] ?? "", sender: packet.participantIdentity, text: "",
                    isFinal: header.attributes["lk.transcription_final"] == "true", chunks: 0)
                order.append(header.streamId)
            case .streamChunk(let chunk):
                streams[chunk.streamId]?.text += String(decoding: chunk.content, as: UTF8.self)
                streams[chunk.streamId]?.chunks += 1
            case .streamTrailer(let trailer):
                if trailer.attributes["lk.transcription_final"] == "true" { streams[trailer.streamId]?.isFinal = true }
            default: break
            }
        }
        return order.compactMap { streams[$0] }
    }

    /// The segments of legacy Transcription packets.
    var legacySegments: [TranscriptionSegment] {
        packets.flatMap { packet -> [TranscriptionSegment] in
            if case .transcription(let value) = packet.value { value.segments } else { [] }
        }
    }

    struct Transcript: Sendable, Equatable {
        var segment: String
        var sender: String
        var text: String
        var isFinal: Bool
        var chunks: Int
    }
}

/// A user packet for everybody, or for those named.
func userPacket(_ text: String, to identities: [String] = []) -> DataPacket {
    var user = UserPacket()
    user.payload = Array(text.utf8)
    var packet = DataPacket()
    packet.value = .user(user)
    packet.destinationIdentities = identities
    return packet
}
