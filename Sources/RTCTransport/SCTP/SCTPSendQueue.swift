/// Messages that wait for room in SCTP's send buffer, in the order in which they were sent.
struct SCTPSendQueue {
    struct Entry {
        var message: SCTPSocket.Outgoing
        /// Nil for messages that do not count into a channel's buffered amount.
        var channel: DataChannel?
    }

    private var entries: [Entry] = []
    private var head = 0
    /// Bytes.
    private(set) var size = 0

    var isEmpty: Bool { head == entries.count }
    var first: Entry? { isEmpty ? nil : entries[head] }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        size += entry.message.bytes.count
    }

    mutating func removeFirst() {
        guard !isEmpty else { return }
        size -= entries[head].message.bytes.count
        head += 1
        // Removing from the front of an array costs its length, so do it now and then.
        if head == entries.count || head >= 256 {
            entries.removeFirst(head)
            head = 0
        }
    }

    func contains(stream: UInt16) -> Bool {
        entries[head...].contains { $0.message.stream == stream }
    }
}
