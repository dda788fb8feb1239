import AudioPipeline
import LoopCore
import RTCTransport

/// Listens to one track of the user: jitter buffer, decoder, and what is speech in it. Driven every 20 ms; confined to
/// the loop.
final class UserEars {
    let trackSid: String
    private let receiver: AudioReceiver
    private var detector: EnergyVAD
    private(set) var receivedFrames = 0
    private(set) var heardSamples = 0
    private(set) var peakLevel = -127.0
    private(set) var speech: [AgentReport.Speech] = []
    private var speechStart: Int?
    /// What was heard lately: all of an utterance, and some before it.
    private var recording: [Int16] = []

    /// Samples before the first word that are kept.
    private static let preRoll = AudioFormat.sampleRate / 2
    /// Samples kept at most: 60 s.
    private static let maximumRecording = 60 * AudioFormat.sampleRate

    /// - Throws: `OpusError`.
    init(trackSid: String, endOfTurn: Duration) throws(OpusError) {
        self.trackSid = trackSid
        receiver = try AudioReceiver()
        var configuration = EnergyVAD.Configuration()
        configuration.hangover = endOfTurn
        detector = EnergyVAD(configuration: configuration)
    }

    func insert(_ frame: ReceivedFrame) {
        if !frame.isRedundant { receivedFrames += 1 }
        receiver.insert(
            payload: frame.payload, timestamp: frame.timestamp, sequenceNumber: frame.sequenceNumber,
            isRedundant: frame.isRedundant, ssrc: frame.ssrc, arrival: frame.arrival)
    }

    /// Plays out the next 20 ms: what began or ended in it.
    func listen(at now: MonotonicTime) -> [EnergyVAD.Event] {
        listen(to: receiver.pull(frames: AudioFormat.framesPer20ms, at: now))
    }

    /// Hears samples that came in another way.
    func listen(to samples: [Int16]) -> [EnergyVAD.Event] {
        heardSamples += samples.count
        peakLevel = max(peakLevel, AudioLevel.decibels(samples))
        recording += samples
        let limit = speechStart == nil ? Self.preRoll : Self.maximumRecording
        if recording.count > limit { recording.removeFirst(recording.count - limit) }
        let events = detector.process(samples)
        for event in events {
            switch event {
            case .speechStarted(let position): speechStart = position
            case .speechEnded(let position):
                if let start = speechStart, speech.count < AgentReport.maximumEntries {
                    speech.append(.init(start: start, end: position))
                }
            }
        }
        return events
    }

    /// The speech that has just ended.
    func takeRecording() -> [Int16] {
        defer {
            recording = []
            speechStart = nil
        }
        return recording
    }

    /// The user is talking.
    var isSpeech: Bool { detector.isSpeech }

    func forgetRecording() { speechStart = nil }

    var concealedFrames: Int { receiver.statistics.lost - receiver.statistics.recoveredByFEC }
}
