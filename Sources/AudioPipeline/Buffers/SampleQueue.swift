/// A first-in first-out queue of samples whose storage is reused. It holds at most `capacity` samples: what does
/// not fit is dropped from the front (the oldest) and counted.
public struct SampleQueue: Sendable {
    private var storage: [Int16] = []
    private var head = 0
    /// Samples kept at most.
    public let capacity: Int
    /// Samples that were dropped.
    public private(set) var dropped = 0

    public init(capacity: Int) {
        self.capacity = capacity
        storage.reserveCapacity(min(capacity, 1 << 16))
    }

    /// Samples that wait.
    public var count: Int { storage.count - head }

    /// Adds samples at the end.
    public mutating func append(_ samples: some Collection<Int16>) {
        if head > 0, head >= storage.count - head {
            storage.removeFirst(head)
            head = 0
        }
        storage.append(contentsOf: samples)
        if count > capacity {
            dropped += count - capacity
            head = storage.count - capacity
        }
    }

    /// Removes and returns the oldest samples, at most `limit` of them.
    public mutating func take(_ limit: Int) -> [Int16] {
        let end = min(storage.count, head + max(0, limit))
        let taken = Array(storage[head..<end])
        head = end
        if head == storage.count {
            storage.removeAll(keepingCapacity: true)
            head = 0
        }
        return taken
    }

    /// Forgets what waits.
    public mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
        head = 0
    }
}
