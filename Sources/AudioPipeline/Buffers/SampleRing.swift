import Synchronization

/// A lock-free first-in first-out ring of samples between one thread that writes and one that reads. Neither ever
/// waits, allocates or takes a lock, so that either may be a real-time thread.
///
/// What does not fit is dropped by the writer (the newest) and counted.
// @unchecked: the writer alone writes `storage` in [tail, head + capacity), the reader alone reads it in [head, tail); the
// releasing stores of `head` and `tail` hand the samples over.
public final class SampleRing: @unchecked Sendable {
    /// Samples that fit.
    public let capacity: Int
    private let storage: UnsafeMutablePointer<Int16>
    /// Samples read so far.
    private let head = Atomic<Int>(0)
    /// Samples written so far.
    private let tail = Atomic<Int>(0)
    private let lost = Atomic<Int>(0)

    /// - Parameter capacity: in samples; at least 1.
    public init(capacity: Int) {
        self.capacity = max(1, capacity)
        storage = .allocate(capacity: self.capacity)
        storage.initialize(repeating: 0, count: self.capacity)
    }

    deinit {
        storage.deallocate()
    }

    /// Samples that can be read now.
    public var count: Int { tail.load(ordering: .acquiring) - head.load(ordering: .acquiring) }

    /// Samples written so far, those dropped not counted.
    public var written: Int { tail.load(ordering: .acquiring) }

    /// Samples that did not fit.
    public var dropped: Int { lost.load(ordering: .relaxed) }

    /// Appends samples; the writer's thread only.
    /// - Returns: how many fit.
    @discardableResult
    public func write(_ samples: UnsafeBufferPointer<Int16>) -> Int {
        let end = tail.load(ordering: .relaxed)
        let room = capacity - (end - head.load(ordering: .acquiring))
        let count = min(room, samples.count)
        if count < samples.count { lost.wrappingAdd(samples.count - count, ordering: .relaxed) }
        guard count > 0, let source = samples.baseAddress else { return 0 }
        let start = end % capacity
        let first = min(count, capacity - start)
        (storage + start).update(from: source, count: first)
        storage.update(from: source + first, count: count - first)
        tail.store(end + count, ordering: .releasing)
        return count
    }

    /// Takes the oldest samples out; the reader's thread only.
    /// - Returns: how many there were, at most the size of `samples`.
    @discardableResult
    public func read(into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        let begin = head.load(ordering: .relaxed)
        let count = min(tail.load(ordering: .acquiring) - begin, samples.count)
        guard count > 0, let target = samples.baseAddress else { return 0 }
        let start = begin % capacity
        let first = min(count, capacity - start)
        target.update(from: storage + start, count: first)
        (target + first).update(from: storage, count: count - first)
        head.store(begin + count, ordering: .releasing)
        return count
    }

    /// Takes at most `limit` of the oldest samples out; the reader's thread only.
    public func read(_ limit: Int) -> [Int16] {
        let wanted = min(max(0, limit), count)
        return [Int16](unsafeUninitializedCapacity: wanted) { buffer, count in
            count = read(into: UnsafeMutableBufferPointer(rebasing: buffer[..<wanted]))
        }
    }

    /// Appends samples; the writer's thread only.
    @discardableResult
    public func write(_ samples: [Int16]) -> Int {
        samples.withUnsafeBufferPointer { write($0) }
    }

    /// Drops the oldest samples; the reader's thread only.
    public func skip(_ count: Int) {
        let begin = head.load(ordering: .relaxed)
        let skipped = min(max(0, count), tail.load(ordering: .acquiring) - begin)
        head.store(begin + skipped, ordering: .releasing)
    }
}
