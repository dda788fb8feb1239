import AudioPipeline
import LoopCore

/// Where the user's side of a session comes from; its flow is the clock of the session's audio. Confined to the loop.
protocol FrameSource: AnyObject {
    /// Takes each frame: 10 or 20 ms of 48 kHz mono, and when its last sample was captured. Frames follow on one
    /// another without a gap.
    var onFrame: ((_ samples: [Int16], _ capturedAt: MonotonicTime) -> Void)? { get set }

    /// How much faster its clock is than the monotonic clock, parts per million; nil where that is not known.
    var driftPPM: Double? { get }

    func start()
    func stop()
}
