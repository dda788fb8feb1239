/// Tells speech from silence by its energy above a noise floor that it learns. Pure: audio in, events out, with
/// positions in samples of the audio that it was given.
///
/// Good for clean audio (files, synthesised speech, close microphones), which is what it is used for here: the
/// turns of the sandbox's agent, and the end of the user's speech when latency is measured.
public struct EnergyVAD: Sendable {
    public struct Configuration: Sendable, Equatable {
        /// Speech is at least this much above the noise floor (dB).
        public var margin = 10.0
        /// Speech is at least this loud (dBov).
        public var minimumLevel = -52.0
        /// Shorter bursts (clicks) are not speech.
        public var minimumSpeech = Duration.milliseconds(60)
        /// Speech ends after so long a silence.
        public var hangover = Duration.milliseconds(400)

        public init() {}
    }

    public enum Event: Sendable, Equatable {
        /// Speech has begun, at that sample (before now, by the minimum length of speech).
        case speechStarted(at: Int)
        /// Speech has ended, at that sample (before now, by the hangover).
        case speechEnded(at: Int)
    }

    public let configuration: Configuration
    /// Speech is going on, pauses shorter than the hangover included.
    public private(set) var isSpeech = false
    /// The frame last processed was above the threshold.
    public private(set) var isActive = false
    /// The level below which everything is taken for noise (dBov).
    public private(set) var noiseFloor = -70.0
    /// Samples processed.
    public private(set) var position = 0

    private let minimumSpeechFrames: Int
    private let hangoverFrames: Int
    private var activeRun = 0
    private var candidateStart = 0
    private var lastActiveEnd = 0

    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        minimumSpeechFrames = AudioFormat.frames(in: configuration.minimumSpeech)
        hangoverFrames = AudioFormat.frames(in: configuration.hangover)
    }

    /// Takes the next samples, best 10 or 20 ms of them (longer ones are looked at in parts of 10 ms).
    public mutating func process(_ samples: [Int16]) -> [Event] {
        var events: [Event] = []
        var start = 0
        while start < samples.count {
            let end = min(samples.count, start + AudioFormat.framesPer10ms)
            if let event = process(unit: samples[start..<end]) { events.append(event) }
            start = end
        }
        return events
    }

    private mutating func process(unit: ArraySlice<Int16>) -> Event? {
        let level = AudioLevel.decibels(unit)
        let start = position
        position += unit.count
        isActive = level > max(configuration.minimumLevel, noiseFloor + configuration.margin)
        learn(level, seconds: Double(unit.count) / Double(AudioFormat.sampleRate))
        if isActive {
            if activeRun == 0 { candidateStart = start }
            activeRun += unit.count
            lastActiveEnd = position
            if !isSpeech && activeRun >= minimumSpeechFrames {
                isSpeech = true
                return .speechStarted(at: candidateStart)
            }
            return nil
        }
        activeRun = 0
        if isSpeech && position - lastActiveEnd >= hangoverFrames {
            isSpeech = false
            return .speechEnded(at: lastActiveEnd)
        }
        return nil
    }

    /// The floor falls to a quieter level within 0.1 s and rises slowly: by 1 dB a second in speech, so that a
    /// sentence does not become its own noise, and by 6 dB a second otherwise.
    private mutating func learn(_ level: Double, seconds: Double) {
        if level < noiseFloor {
            noiseFloor += (level - noiseFloor) * min(1, seconds / 0.1)
        } else {
            noiseFloor = min(level, noiseFloor + (isActive ? 1 : 6) * seconds)
        }
        noiseFloor = min(-35, max(-80, noiseFloor))
    }
}
