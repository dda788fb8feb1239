import AudioPipeline
import LoopCore

/// A source without a device: 20 ms of it every 20 ms, counted from the start so that it does not drift. Gives silence
/// until something is to be said.
final class ClockedSource: FrameSource {
    enum Event {
        /// Speech in the recording ended; the time is when its last sample was sent, some 100 ms ago, since the
        /// silence after it has to be seen first.
        case speechEnded(MonotonicTime)
        /// The recording and its trailing silence were sent; what was wrong with it.
        case finished(warnings: [String])
        case failed(String)
    }

    var onFrame: (([Int16], MonotonicTime) -> Void)?
    var onEvent: ((Event) -> Void)?

    private let loop: EventLoop
    private let silence = [Int16](repeating: 0, count: AudioFormat.framesPer20ms)
    private let generator: (() -> [Int16])?
    private var recording: AudioFileSource?
    private var recordingStarted = MonotonicTime(nanoseconds: 0)
    private var lastSpeechEnd: Int?
    private var timer: LoopTimer?

    /// - Parameter generator: gives the frame to be sent while no recording is said; silence by default.
    init(loop: EventLoop, generator: (() -> [Int16])? = nil) {
        self.loop = loop
        self.generator = generator
    }

    /// It is the monotonic clock.
    var driftPPM: Double? { 0 }

    func start() {
        guard timer == nil else { return }
        timer = loop.schedule(every: .milliseconds(20), startingAt: .now) { [weak self] in self?.tick() }
    }

    /// Says `recording`, beginning with the next frame.
    func speak(_ recording: AudioFileSource) {
        self.recording = recording
    }

    func stop() {
        timer = nil
        onFrame = nil
        onEvent = nil
    }

    private func tick() {
        do {
            onFrame?(try nextFrame(), .now)
        } catch {
            recording = nil
            onEvent?(.failed(error.description))
        }
    }

    private func nextFrame() throws(AudioFileError) -> [Int16] {
        guard let recording else { return generator?() ?? silence }
        if recording.position == 0 { recordingStarted = .now }
        let frame = try recording.next()
        if let end = recording.speechEnd, end != lastSpeechEnd {
            lastSpeechEnd = end
            onEvent?(.speechEnded(recordingStarted + AudioFormat.duration(ofFrames: end)))
        }
        if let frame { return frame }
        self.recording = nil
        onEvent?(.finished(warnings: recording.reader.warnings.map(\.description)))
        return silence
    }
}
