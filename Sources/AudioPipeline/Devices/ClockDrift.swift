import LoopCore

/// How much faster a device's clock is than the monotonic clock, from where its sample counter stood when: a straight
/// line through the means of whole seconds of the last minute. Pure.
public struct ClockDrift: Sendable {
    private struct Block: Sendable {
        /// Seconds and frames since the first stamp.
        var time = 0.0
        var frames = 0.0
        var count = 0.0
    }

    /// Hz, nominal.
    private let rate: Double
    private var first: DeviceClock.Stamp?
    private var last: DeviceClock.Stamp?
    private var blocks: [Block] = []
    private var current = Block()

    private static let maximumBlocks = 60
    /// Fewer seconds say nothing.
    private static let minimumBlocks = 5

    /// - Parameter rate: the device's nominal rate, Hz.
    public init(rate: Int) {
        self.rate = Double(rate)
    }

    /// Takes the newest stamp; the same again changes nothing.
    public mutating func add(_ stamp: DeviceClock.Stamp) {
        guard stamp != last else { return }
        if let last {
            let expected = (stamp.time - last.time).inSeconds * rate
            // A gap, or a device that was lost and found: what went before is another line.
            if abs(expected - Double(stamp.frames - last.frames)) > 0.02 * rate { restart() }
        }
        last = stamp
        let origin = first ?? stamp
        first = origin
        let time = (stamp.time - origin.time).inSeconds
        // Devices and servers take a moment to find their pace.
        guard time > 1 else { return }
        if current.count > 0, time - current.time / current.count > 0.5, current.count >= 10 { closeBlock() }
        current.time += time
        current.frames += Double(stamp.frames - origin.frames)
        current.count += 1
    }

    /// Parts per million by which the device is fast; nil as long as that cannot be told.
    public var ppm: Double? {
        guard blocks.count >= Self.minimumBlocks else { return nil }
        let count = Double(blocks.count)
        let meanTime = blocks.reduce(0) { $0 + $1.time } / count
        let meanFrames = blocks.reduce(0) { $0 + $1.frames } / count
        var above = 0.0
        var below = 0.0
        for block in blocks {
            above += (block.time - meanTime) * (block.frames - meanFrames)
            below += (block.time - meanTime) * (block.time - meanTime)
        }
        guard below > 0 else { return nil }
        return (above / below / rate - 1) * 1e6
    }

    /// Seconds that the figure rests on.
    public var seconds: Double {
        guard let first = blocks.first, let last = blocks.last else { return 0 }
        return last.time - first.time
    }

    private mutating func closeBlock() {
        blocks.append(
            Block(time: current.time / current.count, frames: current.frames / current.count, count: 1))
        if blocks.count > Self.maximumBlocks { blocks.removeFirst() }
        current = Block()
    }

    private mutating func restart() {
        blocks = []
        current = Block()
        first = nil
    }
}
