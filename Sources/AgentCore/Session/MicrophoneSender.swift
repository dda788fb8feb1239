import AudioPipeline
import LoopCore

/// Sends one Opus frame every 20 ms from the moment the track is live: silence, the recorded speech when it is time
/// to speak, and silence again. Confined to the loop.
final class MicrophoneSender {
    enum Event {
        /// Speech in the recording ended; the time is when its last sample was sent, some 100 ms ago, since the
        /// silence after it has to be seen first.
        case speechEnded(MonotonicTime)
        /// The recording and its trailing silence were sent; what was wrong with it.
        case finished(warnings: [String])
        case failed(String)
    }

    var onEvent: ((Event) -> Void)?
    /// Frames sent, silence included.
    private(set) var framesSent = 0

    private let loop: EventLoop
    private let track: LocalAudioTrack
    private let encoder: OpusEncoder
    private let silence = [Int16](repeating: 0, count: AudioFormat.framesPer20ms)
    private var source: AudioFileSource?
    private var sourceStarted = MonotonicTime(nanoseconds: 0)
    private var lastSpeechEnd: Int?
    private var timer: LoopTimer?
    private var timestamp: UInt32

    init(loop: EventLoop, track: LocalAudioTrack, encoder: OpusEncoder) {
        self.loop = loop
        self.track = track
        self.encoder = encoder
        // RFC 3550 section 5.1: the first timestamp is random.
        timestamp = .random(in: 0 ... .max)
    }

    /// Starts the clock of the track.
    func start() {
        guard timer == nil else { return }
        timer = loop.schedule(every: .milliseconds(20), startingAt: .now) { [weak self] in self?.sendFrame() }
    }

    /// Says `source`, beginning with the next frame.
    func speak(_ source: AudioFileSource) {
        self.source = source
    }

    func stop() {
        timer = nil
        onEvent = nil
    }

    private func sendFrame() {
        let samples: [Int16]
        let payload: [UInt8]
        do {
            samples = try nextSamples()
            payload = try encoder.encode(samples)
        } catch {
            source = nil
            onEvent?(.failed(String(describing: error)))
            return
        }
        track.send(
            opus: payload, timestamp: timestamp, marker: framesSent == 0, audioLevel: AudioLevel.dBov(samples))
        timestamp &+= UInt32(samples.count)
        framesSent += 1
    }

    private func nextSamples() throws -> [Int16] {
        guard let source else { return silence }
        if source.position == 0 { sourceStarted = .now }
        let frame = try source.next()
        if let end = source.speechEnd, end != lastSpeechEnd {
            lastSpeechEnd = end
            let offset = Int64(end) * 1_000_000_000 / Int64(AudioFormat.sampleRate)
            onEvent?(.speechEnded(sourceStarted + .nanoseconds(offset)))
        }
        guard let frame else {
            self.source = nil
            onEvent?(.finished(warnings: source.reader.warnings.map(\.description)))
            return silence
        }
        return frame
    }
}
