import LoopCore

/// A one-way path for datagrams on a loop: never delivers within the call that sends, and loses, repeats and
/// reorders as told. Confined to the loop.
final class Pipe {
    var loss = 0.0
    var duplication = 0.0
    /// How often a datagram is held back behind the following ones.
    var reordering = 0.0
    var onDeliver: (([UInt8]) -> Void)?
    private(set) var sent = 0
    private(set) var lost = 0

    private let loop: EventLoop
    private var generator: SeededGenerator
    private var queue: [[UInt8]] = []
    private var late: [[UInt8]] = []
    private var timer: LoopTimer?

    init(loop: EventLoop, seed: UInt64 = 1) {
        self.loop = loop
        generator = SeededGenerator(seed: seed)
    }

    func send(_ datagram: [UInt8]) {
        sent += 1
        if chance(loss) {
            lost += 1
            return
        }
        if chance(reordering) { late.append(datagram) } else { queue.append(datagram) }
        if chance(duplication) { queue.append(datagram) }
        guard timer == nil else { return }
        timer = loop.schedule(after: .milliseconds(1)) { [weak self] in self?.deliver() }
    }

    private func deliver() {
        timer = nil
        let batch = queue + late
        queue = []
        late = []
        for datagram in batch { onDeliver?(datagram) }
    }

    private func chance(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &generator) < probability
    }
}
