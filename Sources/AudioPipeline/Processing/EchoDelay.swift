import LoopCore

/// Makes of the delays that devices tell what the echo canceller is told. It bears a delay that is up to 100 ms too
/// short, hardly one that is too long, and readapts when the delay changes: so it is told less, and always the same,
/// until the devices have said something else for a while. Pure.
struct EchoDelay: Sendable {
    /// Taken off, so that errors of 50 ms either way do no harm, ms.
    static let margin = 40.0
    /// The canceller takes longer delays for nonsense, ms.
    static let longest = 499.0

    /// Changes up to this are wavering, ms.
    private static let tolerance = 20.0
    /// The share of a frame of 10 ms in the mean of some 0.5 s.
    private static let weight = 0.02

    private var mean: Double?
    private var held = 0.0

    /// - Parameter delay: as the devices tell it for the frame of 10 ms at hand.
    /// - Returns: what to tell the canceller, ms.
    mutating func update(_ delay: Duration) -> Int {
        let told = max(0, min(Self.longest, delay.milliseconds))
        guard let previous = mean else {
            mean = told
            held = told
            return result
        }
        let smoothed = previous + (told - previous) * Self.weight
        mean = smoothed
        if abs(smoothed - held) > Self.tolerance { held = smoothed }
        return result
    }

    private var result: Int { Int(max(0, held - Self.margin).rounded()) }
}
