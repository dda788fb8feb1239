/// Learns from arrivals how late packets come, and so how long the jitter buffer must wait. All times in samples at
/// 48 kHz.
///
/// A packet's transit is its arrival minus its timestamp. The least transit of the last 5 to 10 s is the base (the
/// clocks' offset plus the network's least delay); following a sliding minimum takes up the drift of the sender's
/// clock. What a packet took beyond the base goes into a histogram that forgets over about 10 s, and the target is
/// a high percentile of it.
struct DelayEstimator: Sendable {
    private static let bucketWidth = 240  // 5 ms
    private static let bucketCount = 100
    private static let percentile: Float = 0.98
    private static let forgetting: Float = 0.998
    private static let windowHalf: Int64 = 5 * 48_000
    /// So many packets are needed before the histogram alone decides.
    private static let learningPackets = 16
    private static let blockPackets = 25
    private static let stepThreshold: Int64 = 60 * 48

    private var histogram = [Float](repeating: 0, count: Self.bucketCount)
    private var currentMinimum: Int64?
    private var previousMinimum: Int64?
    private var windowStart: Int64 = 0
    private var blockMinimum = Int64.max
    private var blockCount = 0
    private(set) var packets = 0
    /// The upper edge of the bucket that holds the percentile.
    private(set) var spread = 0

    /// The least transit.
    var base: Int64? {
        guard let currentMinimum else { return previousMinimum }
        return previousMinimum.map { min($0, currentMinimum) } ?? currentMinimum
    }

    var isLearning: Bool { packets < Self.learningPackets }

    mutating func add(arrival: Int64, timestamp: Int64) {
        let transit = arrival - timestamp
        if currentMinimum == nil || arrival - windowStart > Self.windowHalf {
            previousMinimum = currentMinimum
            currentMinimum = transit
            windowStart = arrival
        } else if let minimum = currentMinimum, transit < minimum {
            currentMinimum = transit
        }
        noticeStep(transit)
        let late = max(0, transit - (base ?? transit))
        let bucket = min(Self.bucketCount - 1, Int(late) / Self.bucketWidth)
        let keep = min(Self.forgetting, Float(packets) / Float(packets + 1))
        packets += 1
        histogram.withUnsafeMutableBufferPointer { buffer in
            for index in 0..<buffer.count { buffer[index] *= keep }
            buffer[bucket] += 1 - keep
        }
        updateSpread()
    }

    /// The sender paused, and the relation of its timestamps to time may have changed: the base is learnt anew,
    /// the spread is kept.
    mutating func restartBase() {
        currentMinimum = nil
        previousMinimum = nil
    }

    /// Half a second of packets that are all much later than the base: the path has changed (or the sender's
    /// timestamps stood still for a while), and waiting for the old base to leave the window would take too long.
    private mutating func noticeStep(_ transit: Int64) {
        blockMinimum = min(blockMinimum, transit)
        blockCount += 1
        guard blockCount == Self.blockPackets else { return }
        if let base, blockMinimum - base > Self.stepThreshold {
            previousMinimum = nil
            currentMinimum = blockMinimum
        }
        blockMinimum = .max
        blockCount = 0
    }

    private mutating func updateSpread() {
        var sum: Float = 0
        for (index, share) in histogram.enumerated() {
            sum += share
            if sum >= Self.percentile {
                spread = (index + 1) * Self.bucketWidth
                return
            }
        }
        spread = Self.bucketCount * Self.bucketWidth
    }
}
