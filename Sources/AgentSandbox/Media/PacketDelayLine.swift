import LoopCore

/// Loses and delays what passes through it, for tests of jitter buffers. Confined to the loop.
final class PacketDelayLine<Element> {
    private let loop: EventLoop
    private let deliver: (Element) -> Void
    private var random: SplitMix64
    private var queue: [(due: MonotonicTime, element: Element)] = []
    private var timer: LoopTimer?
    /// Packets held at most; more are lost.
    private static var limit: Int { 4096 }

    init(loop: EventLoop, seed: UInt64, deliver: @escaping (Element) -> Void) {
        self.loop = loop
        self.deliver = deliver
        random = SplitMix64(seed: seed)
    }

    func send(_ element: Element, impairment: MediaImpairment, now: MonotonicTime) {
        if impairment.loss > 0, Double.random(in: 0..<1, using: &random) < impairment.loss { return }
        var delay = max(0, impairment.delay.nanoseconds)
        if impairment.jitter > .zero { delay += Int64.random(in: 0...impairment.jitter.nanoseconds, using: &random) }
        guard delay > 0 else { return deliver(element) }
        guard queue.count < Self.limit else { return }
        let due = now + .nanoseconds(delay)
        let index = queue.lastIndex { $0.due <= due }.map { $0 + 1 } ?? 0
        queue.insert((due, element), at: index)
        if index == 0 { arm() }
    }

    private func arm() {
        timer = nil
        guard let first = queue.first else { return }
        timer = loop.schedule(after: max(.zero, first.due - .now)) { [weak self] in self?.flush() }
    }

    private func flush() {
        let now = MonotonicTime.now
        while let first = queue.first, first.due <= now {
            queue.removeFirst()
            deliver(first.element)
        }
        arm()
    }
}

/// A small generator of repeatable pseudo-random numbers (SplitMix64).
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
