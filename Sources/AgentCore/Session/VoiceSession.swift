import AudioPipeline
import LiveKitProtocol
public import LoopCore
import RTCTransport

/// One spoken session with an agent: fetches a token, joins the room, says a recording in real time, hears the
/// answer out, keeps it, and leaves.
///
/// ```swift
/// let session = VoiceSession(configuration: configuration)
/// Task { for await event in session.events { print(event) } }
/// let summary = try await session.run()
/// ```
public actor VoiceSession {
    /// Everything the session sees, in order; it ends after the `ended` event.
    public nonisolated let events: AsyncStream<SessionEvent>
    /// The loop that the session and all it owns live on.
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let configuration: SessionConfiguration
    private let sink: AsyncStream<SessionEvent>.Continuation
    private var outcome: CheckedContinuation<Void, Never>?
    private var failure: SessionError?
    private var isOver = false

    private var fetcher: TokenFetcher?
    private var room: Room?
    private var track: LocalAudioTrack?
    private var source: AudioFileSource?
    private var microphone: MicrophoneSender?
    private var speaker: SpeakerReceiver?
    private var conversation = ConversationReader()
    private var turnTaker: TurnTaker
    private var turnClock = TurnClock()
    private var ticker: LoopTimer?
    private var agent: Participant?
    private var stamps = SessionStamps()
    private var summary = SessionSummary()
    private var server = ""
    private var warnings: Set<String> = []

    /// - Parameter loop: shared between sessions where there are many; a loop of its own by default.
    public init(configuration: SessionConfiguration, loop: EventLoop = EventLoop(name: "agentctl-session")) {
        self.configuration = configuration
        self.loop = loop
        turnTaker = TurnTaker(limits: configuration.limits)
        (events, sink) = AsyncStream.makeStream(of: SessionEvent.self)
    }

    /// Runs the session to its end.
    /// - Returns: what it amounted to.
    /// - Throws: ``SessionError`` saying why it failed; the summary so far is in the last event.
    public func run() async throws(SessionError) -> SessionSummary {
        stamps.started = .now
        emit(.started)
        do {
            try openAudio()
            await withCheckedContinuation { continuation in
                outcome = continuation
                // It may have been stopped before it began.
                if isOver { return finish() }
                fetchToken()
            }
        } catch {
            failure = error
        }
        close()
        emit(.ended(summary, error: failure))
        sink.finish()
        if let failure { throw failure }
        return summary
    }

    /// Ends the session in good order: the server is told, files are completed, and `run` returns.
    public func stop() {
        end(nil)
    }

    // MARK: Steps

    /// Opens the recording and the output first: a wrong path fails before anything is dialled.
    private func openAudio() throws(SessionError) {
        do throws(AudioFileError) {
            let reader = try AudioFileReader(path: configuration.input)
            var options = AudioFileSource.Options()
            options.leadIn = configuration.leadIn
            options.trailing = configuration.trailingSilence
            source = AudioFileSource(reader: reader, options: options)
            for warning in reader.warnings { warn(warning.description) }
            let writer: WAVWriter?
            if let output = configuration.output {
                writer = try WAVWriter(
                    path: output, sampleRate: AudioFormat.sampleRate, channels: 1, protecting: configuration.input)
            } else {
                writer = nil
            }
            let speaker = SpeakerReceiver(loop: loop, writer: writer)
            speaker.onEvent = { [unowned self] in handle($0) }
            self.speaker = speaker
            summary.recording = configuration.output
        } catch {
            throw SessionError(.audio, error.description)
        }
    }

    private func fetchToken() {
        let fetcher = TokenFetcher(loop: loop, options: configuration.room.web)
        self.fetcher = fetcher
        fetcher.fetch(configuration.tokenSource, configuration.tokenRequest) { [unowned self] result in
            switch result {
            case .success(let details): join(details)
            case .failure(let error): end(SessionError(error.category, error.description))
            }
        }
    }

    private func join(_ details: ConnectionDetails) {
        guard !isOver else { return }
        stamps.tokenReceived = .now
        server = (try? LiveKitURL(details.serverURL))?.description ?? details.serverURL
        emit(.tokenReceived(server: server, room: details.roomName, identity: details.participantIdentity))
        let room = Room(loop: loop, options: configuration.room)
        self.room = room
        room.onEvent = { [unowned self] in handle($0) }
        room.onAudioFrame = { [unowned self] sid, frame in speaker?.receive(frame, of: sid) }
        room.connect(url: details.serverURL, token: details.participantToken.value)
        var options = AudioPublishOptions()
        options.redundant = configuration.redundantAudio
        options.dtx = configuration.encoder.dtx
        track = room.publishAudio(options)
        tick(every: .milliseconds(10))
    }

    /// Often until the microphone can start, and as often as the limits need after that.
    private func tick(every interval: Duration) {
        ticker = loop.schedule(every: interval, startingAt: .now + interval) { [unowned self] in tick() }
    }

    private func tick() {
        let now = MonotonicTime.now
        startMicrophoneWhenLive()
        report(conversation.tick(now: now))
        perform(turnTaker.tick(now: now))
    }

    /// The microphone sends from the moment it can: silence first, so that the agent hears a live track.
    private func startMicrophoneWhenLive() {
        guard microphone == nil, let track, track.isLive else { return }
        do {
            let encoder = try OpusEncoder(configuration.encoder)
            let microphone = MicrophoneSender(loop: loop, track: track, encoder: encoder)
            microphone.onEvent = { [unowned self] in handle($0) }
            self.microphone = microphone
            microphone.start()
            tick(every: .milliseconds(50))
            perform(turnTaker.handle(.ready, now: .now))
        } catch {
            end(SessionError(.audio, "the Opus encoder cannot be used: \(error)"))
        }
    }

    private func perform(_ decision: TurnTaker.Decision?) {
        switch decision {
        case nil: return
        case .speak?:
            guard let source else { return }
            microphone?.speak(source)
            emit(.inputStarted)
        case .complete?: end(nil)
        case .fail(let reason)?: end(SessionError(.agent, Self.describe(reason)))
        }
    }

    private static func describe(_ failure: TurnTaker.Failure) -> String {
        switch failure {
        case .agentDidNotJoin(let limit):
            "no agent joined the room within \(DisconnectCause.seconds(limit)). Check that the agent is running and "
                + "registered with this server, that its name matches --agent if it has one, or allow it more time "
                + "with --agent-timeout"
        case .agentLeft: "the agent left the room before it answered. Its own log will say why"
        case .noReply(let limit):
            "the agent did not answer within \(DisconnectCause.seconds(limit)). Check that it heard the speech "
                + "(its log), or allow it more time with --timeout"
        }
    }

    // MARK: What happens

    private func handle(_ event: RoomEvent) {
        let now = MonotonicTime.now
        switch event {
        case .joined(_, let local, let others):
            stamps.joined = now
            summary.identity = local.identity
            conversation.start(ownIdentity: local.identity)
            for other in others { consider(other, now: now) }
        case .connectionStateChanged(.connected):
            summary.room = room?.roomName
            emit(.connected(server: server, room: summary.room ?? "", identity: summary.identity ?? ""))
        case .participantJoined(let participant): consider(participant, now: now)
        case .participantUpdated(let participant, _): consider(participant, now: now)
        case .participantLeft(let participant, let reason):
            report(conversation.participantLeft(identity: participant.identity, now: now))
            guard participant.identity == agent?.identity else { return }
            agent = nil
            emit(.agentLeft(identity: participant.identity, reason: DisconnectCause.server(reason).description))
            perform(turnTaker.handle(.agentLeft, now: now))
        case .trackUnsubscribed(let sid): speaker?.remove(trackSid: sid)
        case .localTrackSubscribed: perform(turnTaker.handle(.microphoneSubscribed, now: now))
        case .localTrackMuted(_, let isMuted):
            emit(.warning(isMuted ? "the server muted the microphone" : "the server unmuted the microphone"))
        case .publishFailed(_, let reason):
            end(SessionError(.connection, "the microphone could not be published: \(reason)"))
        case .data(let packet): report(conversation.receive(packet, now: now))
        case .warning(let message): emit(.warning(message))
        case .disconnected(let cause):
            end(cause == .clientInitiated ? nil : SessionError(cause.category, cause.description))
        case .connectionStateChanged, .trackPublished, .trackUnpublished, .trackSubscribed, .localTrackPublished,
            .localTrackUnpublished, .activeSpeakersChanged, .connectionQualityChanged, .roomUpdated,
            .subscriptionPermissionChanged, .subscriptionFailed, .streamStatesChanged, .requestAnswered:
            break
        }
    }

    /// Follows the first agent that is active in the room.
    private func consider(_ participant: Participant, now: MonotonicTime) {
        guard participant.isAgent, participant.isActive, agent == nil || agent?.identity == participant.identity else {
            return
        }
        let before = agent
        agent = participant
        if before == nil {
            summary.agent = participant.identity
            emit(.agentJoined(identity: participant.identity))
            perform(turnTaker.handle(.agentJoined, now: now))
        }
        if let state = participant.agentState, state != before?.agentState {
            emit(.agentStateChanged(state))
            perform(turnTaker.handle(.agentState(state), now: now))
        }
    }

    private func handle(_ event: MicrophoneSender.Event) {
        switch event {
        case .speechEnded(let time):
            emit(.userSpeechEnded, at: time)
            if let turn = turnClock.userSpeechEnded(at: time) { emit(.turn(turn)) }
            perform(turnTaker.handle(.userSpeechEnded(at: time), now: .now))
        case .finished(let warnings):
            for warning in warnings { warn(warning) }
            emit(.inputFinished)
            perform(turnTaker.handle(.inputFinished, now: .now))
        case .failed(let message): end(SessionError(.audio, message))
        }
    }

    private func handle(_ event: SpeakerReceiver.Event) {
        switch event {
        case .audible(let isAudible, let time):
            emit(isAudible ? .agentAudioStarted : .agentAudioEnded, at: time)
            if isAudible, let turn = turnClock.agentHeard(at: time) { emit(.turn(turn)) }
            perform(turnTaker.handle(.agentAudible(isAudible), now: time))
        case .recordingFailed(let message):
            summary.recording = nil
            emit(.warning(message))
        }
    }

    private func report(_ transcripts: [TranscriptEvent]) {
        for transcript in transcripts {
            emit(.transcript(transcript))
            guard transcript.speaker != .user else { continue }
            if let turn = turnClock.agentRead(at: transcript.updatedAt) { emit(.turn(turn)) }
            perform(turnTaker.handle(.agentText, now: transcript.updatedAt))
        }
    }

    /// Says something about the input once, however often it is noticed.
    private func warn(_ message: String) {
        if warnings.insert(message).inserted { emit(.warning(message)) }
    }

    private func emit(_ kind: SessionEvent.Kind, at time: MonotonicTime = .now) {
        sink.yield(SessionEvent(time: time, kind: kind))
    }

    // MARK: The end

    /// Ends the session once; the first reason counts.
    private func end(_ error: SessionError?) {
        guard !isOver else { return }
        isOver = true
        failure = error
        collect()
        guard let outcome else { return }
        self.outcome = nil
        outcome.resume()
    }

    private func finish() {
        outcome?.resume()
        outcome = nil
    }

    /// Counters are taken while the transports still stand.
    private func collect() {
        summary.duration = stamps.started.map { .now - $0 } ?? .zero
        summary.turns = turnClock.turns
        if let timings = room?.timings {
            stamps.iceConnected = timings.iceConnected
            stamps.dtlsConnected = timings.dtlsConnected
            stamps.firstPacketSent = timings.firstPacketSent
        }
        summary.connect = stamps.breakdown
        guard let statistics = room?.statistics else { return }
        for sent in statistics.sent.values { summary.sent.add(sent) }
        for received in statistics.received.values { summary.received.add(received) }
        summary.roundTripMilliseconds = statistics.sent.values.compactMap(\.roundTripMilliseconds).first
        summary.sent.audioSeconds = Double(microphone?.framesSent ?? 0) * 0.02
        summary.received.audioSeconds = speaker?.playedSeconds ?? 0
        summary.received.concealedSeconds = speaker?.concealedSeconds ?? 0
    }

    private func close() {
        ticker = nil
        fetcher = nil
        microphone?.stop()
        microphone = nil
        if let problem = speaker?.stop() { emit(.warning(problem)) }
        speaker = nil
        room?.onEvent = nil
        room?.onAudioFrame = nil
        room?.leaveNow()
        room = nil
    }
}

extension AudioTraffic {
    fileprivate mutating func add(_ sent: SenderStatistics) {
        packets += sent.packets
        bytes += sent.bytes
        lost += Int64(sent.cumulativeLost)
        lossRatio = packets > 0 ? max(0, Double(lost)) / Double(packets) : 0
        jitterMilliseconds = max(jitterMilliseconds, sent.remoteJitterMilliseconds)
    }

    fileprivate mutating func add(_ received: ReceiverStatistics) {
        packets += received.packets
        bytes += received.bytes
        lost += received.lost
        let expected = Double(packets) + Double(max(0, lost))
        lossRatio = expected > 0 ? Double(max(0, lost)) / expected : 0
        jitterMilliseconds = max(jitterMilliseconds, received.jitterMilliseconds)
    }
}
