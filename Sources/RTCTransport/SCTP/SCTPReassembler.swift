/// Puts messages together that usrsctp delivers in parts. Pure; bounded by what one message may hold.
struct SCTPReassembler {
    /// A message that has arrived completely.
    struct Message: Equatable {
        var stream: UInt16
        var ppid: UInt32
        var bytes: [UInt8]
    }

    /// Streams that may be in the middle of a message at once.
    static let maxPartialMessages = 64

    /// Bytes.
    let maxMessageSize: Int
    /// Messages that were dropped because they were too large.
    private(set) var oversized = 0

    private struct Key: Hashable {
        var stream: UInt16
        var isUnordered: Bool
    }
    /// Nil bytes: too large already, the rest is skipped.
    private var partial: [Key: [UInt8]?] = [:]

    init(maxMessageSize: Int) { self.maxMessageSize = maxMessageSize }

    /// - Returns: the message that the fragment completes.
    mutating func add(_ fragment: SCTPFragment) -> Message? {
        let key = Key(stream: fragment.stream, isUnordered: fragment.isUnordered)
        let earlier = partial.removeValue(forKey: key)
        if fragment.isLast, earlier == nil {
            guard fragment.bytes.count <= maxMessageSize else {
                oversized += 1
                return nil
            }
            return Message(stream: fragment.stream, ppid: fragment.ppid, bytes: fragment.bytes)
        }
        var bytes: [UInt8]? = earlier ?? []
        if let count = bytes?.count, count + fragment.bytes.count > maxMessageSize {
            oversized += 1
            bytes = nil
        }
        bytes?.append(contentsOf: fragment.bytes)
        guard fragment.isLast else {
            if earlier != nil || partial.count < Self.maxPartialMessages { partial.updateValue(bytes, forKey: key) }
            return nil
        }
        return bytes.map { Message(stream: fragment.stream, ppid: fragment.ppid, bytes: $0) }
    }

    /// Forgets what has arrived of the messages of a stream.
    mutating func abandon(stream: UInt16) {
        partial.removeValue(forKey: Key(stream: stream, isUnordered: true))
        partial.removeValue(forKey: Key(stream: stream, isUnordered: false))
    }
}
