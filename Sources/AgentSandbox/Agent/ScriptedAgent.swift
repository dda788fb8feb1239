import AgentCore
import AudioPipeline
import LiveKitProtocol
public import LoopCore
import RTCTransport

/// A voice agent that follows a script: a participant of kind agent, joined through `AgentCore.Room` over real
/// sockets as any client.
///
/// It talks with the first user it sees: hears when the user speaks, transcribes what the script expects, answers with
/// spoken words and their transcript, and keeps `lk.agent.state` up to date.
public actor ScriptedAgent {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let script: AgentScript
    private let attributes: [String: String]
    private let log: (@Sendable (String) -> Void)?
    private var room: AgentCore.Room?
    private var track: LocalAudioTrack?
    private var trackSid: String?
    private var brain: AgentBrain
    private var writer: TranscriptWriter
    private var streams = IncomingStreams(topics: ["lk.chat", "lk.agent.pre-connect-audio-buffer"])
    private var rpc = AgentRPC()
    private var player: SpeechPlayer?
    private var ears: UserEars?
    /// A pre-connect buffer that came before its track.
    private var heardBefore: (trackSid: String, samples: [Int16])?
    private var clock: LoopTimer?
    private var user: Participant?
    private var sayNumber = 0
    private var isEnded = false
    private var seen = AgentReport()
    private var onEnded: ((Ending) -> Void)?

    /// Why an agent is done.
    public enum Ending: Sendable, Equatable {
        /// Told to stop.
        case stopped
        /// The user that it talked with left.
        case userLeft
        /// It could not join, or lost the room.
        case failed
    }

    private var ending = Ending.failed

    private let loopbackOnly: Bool

    /// - Parameters:
    ///   - attributes: what the agent says of itself from the start.
    ///   - loopbackOnly: use loopback candidates only.
    public init(
        loop: EventLoop, script: AgentScript, attributes: [String: String] = [:], loopbackOnly: Bool = false,
        log: (@Sendable (String) -> Void)? = nil
    ) {
        self.loop = loop
        self.loopbackOnly = loopbackOnly
        self.script = script
        self.attributes = attributes
        self.log = log
        brain = AgentBrain(script: script)
        writer = TranscriptWriter(sendsLegacy: script.sendsLegacyTranscription)
    }

    // MARK: Running

    /// Joins a room.
    /// - Parameters:
    ///   - token: of kind agent.
    ///   - onEnded: called once, when the agent has left or lost the room.
    public func start(url: String, token: String, onEnded: (@Sendable (Ending) -> Void)? = nil) {
        guard room == nil, !isEnded else { return }
        self.onEnded = onEnded
        do {
            let player = try SpeechPlayer()
            player.onWords = { [self] in said($0) }
            player.onEnd = { [self] in playbackEnded() }
            self.player = player
        } catch {
            log?("\(script.identity): \(error)")
            return end()
        }
        var options = AgentCore.Room.Options()
        options.loopbackOnly = loopbackOnly
        let room = AgentCore.Room(loop: loop, options: options)
        room.onEvent = { [self] in handle($0) }
        room.onAudioFrame = { [self] in heard($0, $1) }
        self.room = room
        var publishing = AudioPublishOptions()
        publishing.name = "roomio_audio"
        track = room.publishAudio(publishing)
        room.connect(url: url, token: token)
        clock = loop.schedule(every: .milliseconds(20), startingAt: .now + .milliseconds(20)) { [self] in tick() }
    }

    /// Leaves the room. Harmless when repeated.
    public func stop() {
        leave(.stopped)
    }

    private func leave(_ ending: Ending) {
        self.ending = ending
        guard let room else { return end() }
        room.leave()
    }

    private func end() {
        guard !isEnded else { return }
        isEnded = true
        clock = nil
        player?.onWords = nil
        player?.onEnd = nil
        room?.onEvent = nil
        room?.onAudioFrame = nil
        room = nil
        track = nil
        onEnded?(ending)
        onEnded = nil
    }

    /// What it has seen and done so far.
    public var report: AgentReport {
        var report = seen
        if let ears {
            report.receivedFrames += ears.receivedFrames
            report.heardSamples += ears.heardSamples
            report.peakLevel = max(report.peakLevel, ears.peakLevel)
            report.concealedFrames += ears.concealedFrames
            report.speech += ears.speech
        }
        return report
    }

    // MARK: The room

    private func handle(_ event: RoomEvent) {
        switch event {
        case .joined(_, _, let others):
            update(attributes.merging([AgentState.attribute: brain.state.rawValue]) { _, new in new })
            for other in others { link(other) }
        case .participantJoined(let participant), .participantUpdated(let participant, _): link(participant)
        case .participantLeft(let participant, _):
            streams.remove(sender: participant.identity)
            if participant.identity == user?.identity { leave(.userLeft) }
        case .localTrackPublished(_, let info): trackSid = info.sid
        case .localTrackSubscribed: act(.ready)
        case .trackSubscribed(let sid, let participant): listen(to: sid, of: participant)
        case .trackUnsubscribed(let sid): if ears?.trackSid == sid { closeEars() }
        case .data(let packet): received(packet)
        case .warning(let text): log?("\(script.identity): \(text)")
        case .disconnected(let cause):
            if cause != .clientInitiated { log?("\(script.identity): \(cause)") }
            end()
        default: break
        }
    }

    /// Talks with the first participant that is no agent.
    private func link(_ participant: Participant) {
        guard user == nil || user?.identity == participant.identity, participant.kind != .agent else { return }
        user = participant
        seen.user = participant.identity
    }

    private func listen(to sid: String, of participant: Participant?) {
        guard let participant, participant.identity == user?.identity,
            participant.tracks.first(where: { $0.sid == sid })?.source == .microphone
        else { return }
        closeEars()
        ears = try? UserEars(trackSid: sid, endOfTurn: script.endOfTurn)
        if let heardBefore, heardBefore.trackSid == sid {
            self.heardBefore = nil
            if let ears { hear(ears.listen(to: heardBefore.samples)) }
        }
    }

    private func closeEars() {
        if ears?.isSpeech == true { act(.speechEnded) }
        let report = report
        ears = nil
        seen = report
    }

    private func heard(_ sid: String, _ frame: ReceivedFrame) {
        if ears?.trackSid == sid { ears?.insert(frame) }
    }

    private func update(_ attributes: [String: String]) {
        room?.updateAttributes(attributes)
    }

    private func send(_ packets: [DataPacket]) {
        for packet in packets {
            do {
                try room?.sendData(packet)
            } catch {
                log?("\(script.identity): a data packet was not sent: \(error)")
            }
        }
    }

    // MARK: Acting

    private func tick() {
        let now = MonotonicTime.now
        if let ears { hear(ears.listen(at: now)) }
        act(.tick)
        guard let frame = player?.nextFrame(), let track else { return }
        track.send(opus: frame.payload, timestamp: frame.timestamp, marker: frame.marker, audioLevel: frame.level)
        seen.sentFrames += 1
    }

    private func act(_ input: AgentBrain.Input) {
        guard !isEnded else { return }
        for output in brain.handle(input, now: .now) { perform(output) }
        // What was not to be played back need not be kept.
        if input == .speechEnded, !script.echoes { ears?.forgetRecording() }
    }

    private func perform(_ output: AgentBrain.Output) {
        switch output {
        case .state(let state): update([AgentState.attribute: state.rawValue])
        case .transcribe(let segment, let text, let isFinal):
            guard let user, let ears else { return }
            send(
                writer.user(
                    segment: segment, text: text, isFinal: isFinal, identity: user.identity, trackSid: ears.trackSid))
        case .say(let text): say(text)
        case .playBack:
            let samples = ears?.takeRecording() ?? []
            player?.play(Utterance(text: "", samples: samples, words: []))
            if samples.isEmpty { playbackEnded() }
        case .stopSpeaking:
            sayNumber += 1
            player?.stop()
            seen.interruptions += 1
            send(writer.finishAgent(identity: script.identity))
        }
    }

    /// Has the text spoken elsewhere and plays it when it is there, unless something else came up meanwhile.
    private func say(_ text: String) {
        sayNumber += 1
        let number = sayNumber
        if seen.replies.count < AgentReport.maximumEntries { seen.replies.append(text) }
        Task {
            do {
                let utterance = try await SpeechSynthesizer.shared.speak(text, voice: script.voice)
                if number == sayNumber, !isEnded { player?.play(utterance) }
            } catch {
                log?("\(script.identity): \(error)")
                guard number == sayNumber, !isEnded else { return }
                said(text)
                playbackEnded()
            }
        }
    }

    private func said(_ words: String) {
        guard let trackSid else { return }
        send(writer.agent(adding: words, identity: script.identity, trackSid: trackSid))
    }

    private func playbackEnded() {
        send(writer.finishAgent(identity: script.identity))
        act(.playbackEnded)
    }

    // MARK: Data

    private func received(_ packet: DataPacket) {
        if case .rpcRequest = packet.value { seen.rpcRequests += 1 }
        send(rpc.handle(packet))
        for stream in streams.receive(packet, now: .now) { received(stream) }
    }

    private func received(_ stream: IncomingStreams.Stream) {
        switch stream.topic {
        case "lk.chat":
            guard stream.sender == user?.identity, seen.chatMessages.count < AgentReport.maximumEntries else { return }
            let text = String(decoding: stream.bytes, as: UTF8.self)
            seen.chatMessages.append(text)
            // Somebody who types need not listen.
            act(.ready)
            act(.chat(text))
        default:
            hearBefore(stream)
        }
    }

    /// What the user said before this end could hear: it goes before everything that is heard on the track.
    private func hearBefore(_ stream: IncomingStreams.Stream) {
        guard seen.preConnectBuffers.count < AgentReport.maximumEntries else { return }
        var buffer = AgentReport.PreConnectBuffer(
            trackSid: stream.attributes["trackId"] ?? "",
            sampleRate: stream.attributes["sampleRate"].flatMap { Int($0) } ?? 0,
            channels: stream.attributes["channels"].flatMap { Int($0) } ?? 0, bytes: stream.bytes.count)
        // Compressed buffers, as browsers send them, are counted and not heard.
        if buffer.channels == 1, (8_000...48_000).contains(buffer.sampleRate),
            !stream.mimeType.hasPrefix("audio/"), !stream.mimeType.hasPrefix("video/")
        {
            buffer.samples = stride(from: 0, to: stream.bytes.count - 1, by: 2).prefix(60 * buffer.sampleRate).map {
                Int16(bitPattern: UInt16(stream.bytes[$0]) | UInt16(stream.bytes[$0 + 1]) << 8)
            }
        }
        seen.preConnectBuffers.append(buffer)
        guard stream.sender == user?.identity,
            let samples = Resampler.convert(buffer.samples, from: buffer.sampleRate, to: AudioFormat.sampleRate)
        else { return }
        if let ears, ears.trackSid == buffer.trackSid {
            hear(ears.listen(to: samples))
        } else {
            heardBefore = (buffer.trackSid, samples)
        }
    }

    private func hear(_ events: [EnergyVAD.Event]) {
        for event in events {
            switch event {
            case .speechStarted: act(.speechStarted)
            case .speechEnded: act(.speechEnded)
            }
        }
    }
}
