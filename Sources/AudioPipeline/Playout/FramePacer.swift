public import LoopCore

/// Says when each frame of a stream is due: frame `n` at `start + n * frameDuration`, counted from the start and
/// never from the last frame, so that it does not drift. Pure.
///
/// After a stall (a suspended machine) longer than `catchUpLimit` the schedule moves on instead of sending
/// everything that was missed at once; `slipped` tells by how much in all.
public struct FramePacer: Sendable {
    public let frameDuration: Duration
    public let catchUpLimit: Duration
    /// When frame 0 was or would have been due, slips included.
    public private(set) var start: MonotonicTime
    /// Frames given out so far.
    public private(set) var nextIndex = 0
    /// By how much the schedule was moved in all.
    public private(set) var slipped = Duration.zero

    public init(
        start: MonotonicTime, frameDuration: Duration = .milliseconds(20), catchUpLimit: Duration = .seconds(1)
    ) {
        self.start = start
        self.frameDuration = frameDuration
        self.catchUpLimit = catchUpLimit
    }

    /// When frame `index` is due.
    public func deadline(of index: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: start.nanoseconds + frameDuration.nanoseconds * Int64(index))
    }

    /// When the next frame is due.
    public var nextDeadline: MonotonicTime { deadline(of: nextIndex) }

    /// The index of the next frame when it is due, and nil when nothing is due yet. Call until nil.
    public mutating func takeDue(at now: MonotonicTime) -> Int? {
        let late = now - nextDeadline
        guard late >= .zero else { return nil }
        if late > catchUpLimit {
            start = start + late
            slipped += late
        }
        defer { nextIndex += 1 }
        return nextIndex
    }
}
