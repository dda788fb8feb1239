/// Finds out whether a device keeps time, and keeps it in its place where it does not: ALSA's `null` and `file` give
/// and take samples as fast as they are asked. Pure, and free of allocation.
struct PaceGuard {
    private let rate: Int
    private let slack: Int
    private let start: Int64
    /// The device would have gone faster than time.
    private(set) var isUnpaced = false
    private var strikes = 0

    /// Real devices are recognised by then.
    private static let probation: Int64 = 500_000_000

    /// - Parameters:
    ///   - rate: Hz.
    ///   - slack: frames by which a device may be ahead of the clock.
    ///   - start: when it was started, ns.
    init(rate: Int, slack: Int, start: Int64) {
        self.rate = rate
        self.slack = slack
        self.start = start
    }

    /// How many of the `available` frames may be moved now, `moved` having been moved since the start.
    mutating func allowance(available: Int, moved: Int, now: Int64) -> Int {
        let elapsed = now - start
        if !isUnpaced && elapsed > Self.probation { return available }
        let allowed = max(0, Int(elapsed * Int64(rate) / 1_000_000_000) + slack - moved)
        guard available > allowed + slack else { return available }
        if !isUnpaced {
            strikes += 1
            // Once may be a burst at the start; a device without a clock does it every time.
            isUnpaced = strikes >= 4
        }
        return allowed
    }

    /// How long until `frames` more frames may be moved, ms rounded up.
    func wait(for frames: Int, moved: Int, now: Int64) -> Int32 {
        let due = start + Int64(moved + frames - slack) * 1_000_000_000 / Int64(rate)
        return Int32(clamping: max(1, (due - now + 999_999) / 1_000_000))
    }
}
