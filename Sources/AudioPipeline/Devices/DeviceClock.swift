public import LoopCore
import Synchronization

/// Where a device's sample counter stood at a time: what drift and delays are computed from. Written by the device's
/// thread, read by any; neither waits.
// Every part is atomic, and `version` is odd while they are being changed (a sequence lock).
public final class DeviceClock: Sendable {
    public struct Stamp: Sendable, Equatable {
        /// Frames of the device's own rate since it was opened.
        public var frames: Int
        /// When the last of them was captured, or will be heard.
        public var time: MonotonicTime
    }

    private let version = Atomic<Int>(0)
    private let frames = Atomic<Int>(0)
    private let nanoseconds = Atomic<Int64>(0)

    init() {}

    func set(frames newFrames: Int, at time: MonotonicTime) {
        version.wrappingAdd(1, ordering: .acquiringAndReleasing)
        frames.store(newFrames, ordering: .releasing)
        nanoseconds.store(time.nanoseconds, ordering: .releasing)
        version.wrappingAdd(1, ordering: .releasing)
    }

    /// The newest stamp; nil before the first, and in the rare moment in which it is being changed.
    public var stamp: Stamp? {
        for _ in 0..<8 {
            let before = version.load(ordering: .acquiring)
            guard before > 0 else { return nil }
            let stamp = Stamp(
                frames: frames.load(ordering: .acquiring),
                time: MonotonicTime(nanoseconds: nanoseconds.load(ordering: .acquiring)))
            if before & 1 == 0, version.load(ordering: .acquiring) == before { return stamp }
        }
        return nil
    }
}
