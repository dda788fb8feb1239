public import LoopCore

/// How much faster a device's clock is than the monotonic clock, from where its sample counter stood when. Stamps are
/// taken late, by as much as a thread waits for its turn, and hardly ever early: what counts is the line under them,
/// which is found to some 3 ppm within 10 s where they are late by up to 2 ms. Where they are not like that, it is the
/// line through them. Pure.
public struct DriftEstimator: Sendable {
    /// The earliest stamp of 0.1 s, and the sums that the line through all of them takes.
    private struct Block: Sendable {
        /// Seconds by the device, and how much later than by the device the stamp was.
        var earliest = (time: 0.0, late: Double.infinity)
        var count = 0.0
        var time = 0.0
        var late = 0.0
        var timeSquares = 0.0
        var lateSquares = 0.0
        var products = 0.0

        mutating func add(time newTime: Double, late newLate: Double) {
            if newLate < earliest.late { earliest = (newTime, newLate) }
            count += 1
            time += newTime
            late += newLate
            timeSquares += newTime * newTime
            lateSquares += newLate * newLate
            products += newTime * newLate
        }
    }

    /// Hz, nominal.
    private let rate: Double
    private var origin: (frames: Int, time: MonotonicTime)?
    private var last: (frames: Int, time: MonotonicTime, late: Double)?
    private var blocks: [Block] = []
    private var current = Block()
    private var strays = 0

    private static let blockLength = 0.1
    private static let maximumBlocks = 600
    /// Fewer blocks say nothing.
    private static let minimumBlocks = 50
    /// Seconds without a stamp after which another line begins.
    private static let longestPause = 1.0
    /// A stamp that is off by so many seconds is a stray; so many in a row are another line.
    private static let strayDistance = 0.02
    private static let maximumStrays = 10
    /// The two lines agree to within so many standard errors, or the stamps have no edge for one to lie against.
    private static let maximumErrors = 5.0

    /// - Parameter rate: the device's nominal rate, Hz.
    public init(rate: Int) {
        self.rate = Double(max(1, rate))
    }

    /// Takes a stamp.
    /// - Parameters:
    ///   - frames: that the device has moved since it was opened, at its own rate.
    ///   - time: when it had.
    public mutating func add(frames: Int, at time: MonotonicTime) {
        guard let start = origin, let before = last, frames >= before.frames,
            (time - before.time).inSeconds <= Self.longestPause
        else {
            restart(frames: frames, at: time)
            return
        }
        guard frames > before.frames else { return }
        let position = Double(frames - start.frames) / rate
        let late = (time - start.time).inSeconds - position
        if abs(late - before.late) > Self.strayDistance {
            strays += 1
            if strays >= Self.maximumStrays { restart(frames: frames, at: time) }
            return
        }
        strays = 0
        last = (frames, time, late)
        if current.count > 0, position - current.time / current.count >= Self.blockLength / 2 { closeBlock() }
        current.add(time: position, late: late)
    }

    /// Parts per million by which the device is fast; nil as long as that cannot be told.
    public var ppm: Double? {
        guard blocks.count >= Self.minimumBlocks, let through = lineThrough() else { return nil }
        guard let under = slopeUnder(through), abs(under - through.slope) <= Self.maximumErrors * through.error else {
            return Self.ppm(through.slope)
        }
        return Self.ppm(under)
    }

    /// Seconds that the figure rests on.
    public var seconds: Double {
        guard let first = blocks.first, let last = blocks.last else { return 0 }
        return last.earliest.time - first.earliest.time
    }

    private struct Line {
        /// Seconds later in each second.
        var slope: Double
        var offset: Double
        /// Standard error of the slope.
        var error: Double
    }

    /// The line of least squares.
    private func lineThrough() -> Line? {
        var all = Block()
        for block in blocks {
            all.count += block.count
            all.time += block.time
            all.late += block.late
            all.timeSquares += block.timeSquares
            all.lateSquares += block.lateSquares
            all.products += block.products
        }
        let spread = all.timeSquares - all.time * all.time / all.count
        guard all.count > 2, spread > 0 else { return nil }
        let common = all.products - all.time * all.late / all.count
        let slope = common / spread
        let rest = max(0, all.lateSquares - all.late * all.late / all.count - slope * common)
        return Line(
            slope: slope, offset: (all.late - slope * all.time) / all.count,
            error: (rest / (all.count - 2) / spread).squareRoot())
    }

    /// The slope of the line that no early stamp is below and that is nearest to all of them: the edge of their lower
    /// convex hull at the mean time.
    private func slopeUnder(_ line: Line) -> Double? {
        let distances = blocks.map { $0.earliest.late - line.slope * $0.earliest.time - line.offset }
        let middle = Self.median(distances)
        // A few stamps may be early for no reason.
        let limit = middle - 8 * max(20e-6, Self.median(distances.map { abs($0 - middle) }))
        let points = zip(blocks, distances).filter { $1 >= limit }.map { $0.0.earliest }
        guard !points.isEmpty else { return nil }
        var hull: [(time: Double, late: Double)] = []
        for point in points {
            while hull.count > 1, !Self.turnsUp(hull[hull.count - 2], hull[hull.count - 1], point) {
                hull.removeLast()
            }
            hull.append(point)
        }
        let mean = points.reduce(0) { $0 + $1.time } / Double(points.count)
        for (left, right) in zip(hull, hull.dropFirst()) where right.time >= mean {
            return (right.late - left.late) / (right.time - left.time)
        }
        return nil
    }

    private static func turnsUp(
        _ a: (time: Double, late: Double), _ b: (time: Double, late: Double), _ c: (time: Double, late: Double)
    ) -> Bool {
        (b.time - a.time) * (c.late - a.late) - (b.late - a.late) * (c.time - a.time) > 0
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    private static func ppm(_ slope: Double) -> Double { (1 / (1 + slope) - 1) * 1e6 }

    private mutating func closeBlock() {
        blocks.append(current)
        if blocks.count > Self.maximumBlocks { blocks.removeFirst() }
        current = Block()
    }

    private mutating func restart(frames: Int, at time: MonotonicTime) {
        origin = (frames, time)
        last = (frames, time, 0)
        blocks.removeAll(keepingCapacity: true)
        current = Block()
        strays = 0
    }
}
