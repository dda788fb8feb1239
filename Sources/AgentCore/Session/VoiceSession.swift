import AudioPipeline
import LiveKitProtocol
public import LoopCore
import RTCTransport

/// One spoken session with an agent: fetches a token, joins the room, says a recording or lets somebody speak, hears
/// the agent, keeps what is said, and leaves.
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

    let configuration: SessionConfiguration
    private let sink: AsyncStream<SessionEvent>.Continuation
    private var outcome: CheckedContinuation<Void, Never>?
    private var failure: SessionError?
    private var isOver = false

    private var fetcher: TokenFetcher?
    var room: Room?
    var track: LocalAudioTrack?
    var studio: Studio?
    private var recorder: SessionRecorder?
    var conversation = ConversationReader()
    var rpc = RPCEndpoint()
    let tools: ToolBox
    var turnTaker: TurnTaker
    var turnClock = TurnClock()
    private var ticker: LoopTimer?
    private var nextLossCheck = MonotonicTime(nanoseconds: 0)
    var muteSignal: LoopTimer?
    var preConnect = PreConnectPhase.idle
    var agent: Participant?
    var stamps = SessionStamps()
    var summary = SessionSummary()
    var server = ""
    private var warnings: Set<String> = []

    /// - Parameter loop: shared between sessions where there are many; a loop of its own by default.
    public init(configuration: SessionConfiguration, loop: EventLoop = EventLoop(name: "agentctl-session")) {
        self.configuration = configuration
        self.loop = loop
        tools = ToolBox(configuration.tools)
        rpc.methods = tools.names.union([Self.muteMethod])
        turnTaker = TurnTaker(limits: configuration.limits, isRecording: configuration.input.isRecording)
        (events, sink) = AsyncStream.makeStream(of: SessionEvent.self)
    }

    /// Runs the session to its end.
    /// - Returns: what it amounted to.
    /// - Throws: ``SessionError`` saying why it failed; the summary so far is in the last event.
    public func run() async throws(SessionError) -> SessionSummary {
        stamps.started = .now
        do {
            try openRecorder()
            emit(.started)
            try openAudio()
            await withCheckedContinuation { continuation in
                outcome = continuation
                // It may have been stopped before it began.
                if isOver { return finish() }
                studio?.audio.start()
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

    private func openRecorder() throws(SessionError) {
        guard let directory = configuration.recordDirectory else { return }
        do {
            recorder = try SessionRecorder(directory: directory)
            recorder?.onFailure = { [unowned self] in warn($0) }
        } catch {
            throw SessionError(.audio, error.description)
        }
    }

    /// Opens everything that sounds first: a wrong path fails before anything is dialled.
    private func openAudio() throws(SessionError) {
        do throws(AudioFileError) {
            let studio = try Studio(configuration: configuration, loop: loop, recorder: recorder)
            studio.source?.onEvent = { [unowned self] in handle($0) }
            studio.audio.onEvent = { [unowned self] in handle($0) }
            self.studio = studio
            for warning in studio.recording?.reader.warnings ?? [] { warn(warning.description) }
        } catch {
            throw SessionError(.audio, error.description)
        }
        if case .file(let path)? = configuration.output { summary.recording = path }
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
        var roomOptions = configuration.room
        if case .literal = configuration.tokenSource {} else { roomOptions.renewsToken = true }
        let room = Room(loop: loop, options: roomOptions)
        self.room = room
        room.onEvent = { [unowned self] in handle($0) }
        room.onAudioFrame = { [unowned self] sid, frame in studio?.audio.speaker.receive(frame, of: sid) }
        room.connect(url: details.serverURL, token: details.participantToken.value)
        var options = AudioPublishOptions()
        options.redundant = configuration.redundantAudio
        options.dtx = configuration.encoder.dtx
        options.isMuted = configuration.isMuted
        options.features = features
        track = room.publishAudio(options)
        tick(every: .milliseconds(10))
    }

    private var features: [AudioTrackFeature] {
        var features: [AudioTrackFeature] = []
        if configuration.encoder.channels == 2 { features.append(.stereo) }
        if configuration.processing?.gainControl == true { features.append(.autoGainControl) }
        if configuration.processing?.echoCancellation == true { features.append(.echoCancellation) }
        if configuration.processing?.noiseSuppression == true { features.append(.noiseSuppression) }
        if configuration.keepsPreConnectAudio { features.append(.preconnectBuffer) }
        return features
    }

    /// The token that the session began with has expired, or was taken back: the source is asked for another.
    func renewToken() {
        let fetcher = TokenFetcher(loop: loop, options: configuration.room.web)
        self.fetcher = fetcher
        var request = configuration.tokenRequest
        // The same room, as the same participant.
        request.roomName = summary.room ?? request.roomName
        request.participantIdentity = summary.identity ?? request.participantIdentity
        fetcher.fetch(configuration.tokenSource, request) { [unowned self] result in
            room?.renew(token: (try? result.get())?.participantToken.value)
        }
    }

    /// Often until the microphone can start, and as often as the limits need after that.
    private func tick(every interval: Duration) {
        ticker = loop.schedule(every: interval, startingAt: .now + interval) { [unowned self] in tick() }
    }

    private func tick() {
        let now = MonotonicTime.now
        startMicrophoneWhenLive()
        report(conversation.tick(now: now))
        perform(rpc.tick(now: now))
        advancePreConnect(now: now)
        adaptToLoss(now: now)
        if let limit = configuration.duration, turnTaker.phase == .conversing, let started = stamps.conversationStarted,
            now - started >= limit
        {
            return end(nil)
        }
        perform(turnTaker.tick(now: now))
    }

    /// The microphone sends from the moment it can: silence first, so that the agent hears a live track.
    private func startMicrophoneWhenLive() {
        guard let studio, studio.audio.microphone == nil, let track, track.isLive else { return }
        do {
            studio.audio.attach(track: track, encoder: try OpusEncoder(configuration.encoder))
            tick(every: .milliseconds(preConnectIsPending ? 20 : 50))
            perform(turnTaker.handle(.ready, now: .now))
        } catch {
            end(SessionError(.audio, "the Opus encoder cannot be used: \(error)"))
        }
    }

    /// The pre-connect stream is over: nothing is urgent any more.
    func relax() { tick(every: .milliseconds(50)) }

    private func adaptToLoss(now: MonotonicTime) {
        guard configuration.adaptsToLoss, now >= nextLossCheck, let track else { return }
        nextLossCheck = now + .seconds(1)
        guard let sent = room?.statistics.sent[track.cid], sent.packets > 100 else { return }
        studio?.audio.microphone?.adapt(toLoss: sent.fractionLost)
    }

    func perform(_ decision: TurnTaker.Decision?) {
        if turnTaker.phase == .conversing, stamps.conversationStarted == nil { stamps.conversationStarted = .now }
        switch decision {
        case nil: return
        case .speak?:
            guard let studio, let recording = studio.recording else { return }
            studio.source?.speak(recording)
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

    /// Says something once, however often it is noticed.
    func warn(_ message: String) {
        if warnings.insert(message).inserted { emit(.warning(message)) }
    }

    func emit(_ kind: SessionEvent.Kind, at time: MonotonicTime = .now) {
        let event = SessionEvent(time: time, kind: kind)
        if let recorder, let started = stamps.started { recorder.write(event: event.json(since: started).line) }
        sink.yield(event)
    }

    // MARK: The end

    /// Ends the session once; the first reason counts.
    func end(_ error: SessionError?) {
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

    private func close() {
        ticker = nil
        muteSignal = nil
        fetcher = nil
        tools.cancelAll()
        if let problem = studio?.audio.stop() { emit(.warning(problem)) }
        studio?.source?.onEvent = nil
        studio = nil
        room?.onEvent = nil
        room?.onAudioFrame = nil
        room?.leaveNow()
        room = nil
    }
}
