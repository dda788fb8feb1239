import AudioPipeline
import LoopCore
import RTCTransport

/// All the sound of a session on one clock, that of its source: each frame of the user brings a frame of the agent with
/// it, so that echo cancellation, recordings and playback see both sides aligned to the sample. Where the source stalls,
/// the agent is heard all the same, and the user's frames catch up. Confined to the loop.
final class SessionAudio {
    enum Event {
        /// The first frame came; when its first sample was captured.
        case started(MonotonicTime)
        /// The agent became audible or silent.
        case agentAudible(Bool, MonotonicTime)
        /// The user began to speak, as voice activity tells.
        case userSpeechStarted(MonotonicTime)
        /// The user stopped speaking; when, not when it was noticed.
        case userSpeechEnded(MonotonicTime)
        /// The agent's recording cannot go on; what was written stays playable.
        case outputFailed(String)
        case failed(String)
    }

    /// Where the agent's sound is kept or goes.
    enum Output {
        case file(WAVWriter)
        case stream(StreamWriter)
        case manual(ManualAudio)
    }

    var onEvent: ((Event) -> Void)?
    let speaker = SpeakerReceiver()
    private(set) var microphone: MicrophoneSender?

    private let source: any FrameSource
    private let processor: VoiceProcessor?
    private let mix: LoopedFile?
    private let recorder: SessionRecorder?
    private let playback: PlaybackFeed?
    private var output: Output?
    private var gain: GainRamp
    private var agentMeter = AudibilityMeter()
    private var detector: EnergyVAD?
    private var playedFrames = 0
    /// What was captured before there was a track.
    private var early: PreConnectBuffer?
    private var hasStarted = false
    private let loop: EventLoop
    private var watchdog: LoopTimer?
    private var lastFrame = MonotonicTime(nanoseconds: 0)
    /// Samples of the agent that were played while the source stalled.
    private var ahead = 0

    /// A source that gave nothing for so long has stalled; longer than what the loudspeaker has waiting is too late.
    private static let stall = Duration.milliseconds(35)

    struct Parts {
        var source: any FrameSource
        var processor: VoiceProcessor?
        var mix: LoopedFile?
        var recorder: SessionRecorder?
        var playback: PlaybackFeed?
        var output: Output?
        var isMuted = false
        /// Whether to look for speech in what the user says.
        var detectsSpeech = false
        /// Samples to keep for the agent while it cannot hear; nil keeps none.
        var preConnectLimit: Int?
    }

    init(_ parts: Parts, loop: EventLoop) {
        self.loop = loop
        source = parts.source
        processor = parts.processor
        mix = parts.mix
        recorder = parts.recorder
        playback = parts.playback
        output = parts.output
        gain = GainRamp(isMuted: parts.isMuted)
        if parts.detectsSpeech { detector = EnergyVAD() }
        early = parts.preConnectLimit.map { PreConnectBuffer(limit: $0) }
    }

    func start() {
        source.onFrame = { [weak self] in self?.handle($0, capturedAt: $1) }
        source.start()
        guard source is DeviceSource else { return }
        lastFrame = .now
        watchdog = loop.schedule(every: .milliseconds(20), startingAt: .now) { [weak self] in self?.bridgeStall() }
    }

    private func bridgeStall() {
        let now = MonotonicTime.now
        while now - lastFrame > Self.stall {
            let count = AudioFormat.framesPer10ms
            lastFrame = lastFrame + .milliseconds(10)
            ahead += count
            playAgent(frames: count, now: now)
        }
    }

    /// Gives the samples somewhere to go; those kept so far go first.
    func attach(track: LocalAudioTrack, encoder: OpusEncoder) {
        microphone = MicrophoneSender(track: track, encoder: encoder, holding: early)
        early = nil
    }

    // MARK: Muting

    var isMuted: Bool { gain.isMuted }

    /// Fades out or in.
    func setMuted(_ isMuted: Bool) { gain.set(isMuted: isMuted) }

    // MARK: Frames

    private func handle(_ captured: [Int16], capturedAt time: MonotonicTime) {
        var user = captured
        if !hasStarted {
            hasStarted = true
            onEvent?(.started(time - AudioFormat.duration(ofFrames: user.count)))
        }
        let now = MonotonicTime.now
        lastFrame = max(lastFrame, now)
        let caught = min(ahead, user.count)
        ahead -= caught
        if caught < user.count { playAgent(frames: user.count - caught, now: now) }
        if let processor { clean(&user, by: processor, age: now - time) }
        mix?.mix(into: &user)
        detect(user, endingAt: time)
        gain.apply(to: &user)
        do {
            if microphone == nil { early?.append(user) } else { try microphone?.append(user) }
        } catch {
            onEvent?(.failed("the speech could not be encoded: \(error)"))
        }
        recorder?.write(user: user)
    }

    /// Plays out the agent's next samples.
    private func playAgent(frames: Int, now: MonotonicTime) {
        let samples = speaker.pull(frames: frames, at: now)
        noteEcho(samples)
        playback?.play(samples, sourceDriftPPM: source.driftPPM)
        recorder?.write(agent: samples)
        hear(samples, now: now)
    }

    /// Takes noise and the loudspeaker's echo out of what was captured `age` ago.
    private func clean(_ user: inout [Int16], by processor: VoiceProcessor, age: Duration) {
        let unit = VoiceProcessor.frameLength
        let delay = (playback?.delay ?? .zero) + age
        user.withUnsafeMutableBufferPointer { samples in
            for start in stride(from: 0, to: samples.count - unit + 1, by: unit) {
                processor.capture(
                    UnsafeMutableBufferPointer(rebasing: samples[start..<(start + unit)]), delay: delay)
            }
        }
    }

    /// Tells the echo canceller what the loudspeaker is given.
    private func noteEcho(_ samples: [Int16]) {
        guard let processor, playback != nil else { return }
        let unit = VoiceProcessor.frameLength
        samples.withUnsafeBufferPointer { played in
            for start in stride(from: 0, to: played.count - unit + 1, by: unit) {
                processor.playback(UnsafeBufferPointer(rebasing: played[start..<(start + unit)]))
            }
        }
    }

    private func detect(_ samples: [Int16], endingAt time: MonotonicTime) {
        guard detector != nil, !gain.isMuted else { return }
        for event in detector?.process(samples) ?? [] {
            let position = detector?.position ?? 0
            switch event {
            case .speechStarted(let at):
                onEvent?(.userSpeechStarted(time - AudioFormat.duration(ofFrames: position - at)))
            case .speechEnded(let at):
                onEvent?(.userSpeechEnded(time - AudioFormat.duration(ofFrames: position - at)))
            }
        }
    }

    private func hear(_ samples: [Int16], now: MonotonicTime) {
        guard speaker.hasStarted else { return }
        playedFrames += samples.count
        if agentMeter.update(level: AudioLevel.dBov(samples), frames: samples.count) {
            onEvent?(.agentAudible(agentMeter.isAudible, now))
        }
        do throws(AudioFileError) {
            switch output {
            case nil: break
            case .file(let writer)?: try writer.write(samples)
            case .stream(let writer)?: try writer.write(samples)
            case .manual(let audio)?: audio.push(samples)
            }
        } catch {
            output = nil
            onEvent?(.outputFailed(error.description))
        }
    }

    // MARK: Figures

    /// Seconds of the agent's sound since its first packet.
    var playedSeconds: Double { Double(playedFrames) / Double(AudioFormat.sampleRate) }
    var sourceDriftPPM: Double? { source.driftPPM }
    var playbackDriftPPM: Double? { playback?.driftPPM }
    var echoReturnLossEnhancement: Int? { processor?.statistics.echoReturnLossEnhancement }

    /// Stops the flow and completes the files. Returns what went wrong with them.
    func stop() -> String? {
        watchdog = nil
        source.stop()
        onEvent = nil
        recorder?.close()
        playback?.device.stop()
        defer { output = nil }
        do throws(AudioFileError) {
            switch output {
            case nil, .manual?: break
            case .file(let writer)?: try writer.close()
            case .stream(let writer)?: try writer.close()
            }
            return nil
        } catch {
            return error.description
        }
    }
}
