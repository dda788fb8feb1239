import LoopCore

/// A one-way path for datagrams on a loop: never delivers within the call that sends, and loses, repeats and
/// reorders as told. Confined to the loop.
final class Pipe {
    var loss = 0.0
    var duplication = 0.0
    /// How often a datagram is held back behind the following ones.
    var reordering = 0.0
    /// How often a datagram is altered in a few bytes.
    var corruption = 0.0
    /// Makes an altered datagram look sound again, such as by its checksum.
    var repair: (@Sendable (inout [UInt8]) -> Void)?
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
        let datagram = chance(corruption) ? corrupted(datagram) : datagram
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

    private func corrupted(_ datagram: [UInt8]) -> [UInt8] {
        var bytes = datagram
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[index] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes.removeLast(Int.random(in: 0...min(8, bytes.count - 1), using: &generator))
            default: bytes += generator.bytes(Int.random(in: 1...8, using: &generator))
            }
        }
        repair?(&bytes)
        return bytes
    }

    private func chance(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &generator) < probability
    }
}
