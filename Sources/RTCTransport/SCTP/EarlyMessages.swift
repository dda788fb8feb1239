/// Messages of streams on which no channel is open yet: with unordered delivery, data can overtake the message that
/// opens its channel, and a negotiated channel may be made late. Bounded.
struct EarlyMessages {
    /// Messages, over all streams.
    static let maxCount = 64
    /// Bytes, over all streams.
    static let maxSize = 1 << 20

    private var messages: [SCTPReassembler.Message] = []
    private var size = 0

    mutating func add(_ message: SCTPReassembler.Message) {
        guard messages.count < Self.maxCount, size + message.bytes.count <= Self.maxSize else { return }
        messages.append(message)
        size += message.bytes.count
    }

    /// - Returns: what has arrived on the stream, in order.
    mutating func take(stream: UInt16) -> [SCTPReassembler.Message] {
        guard !messages.isEmpty else { return [] }
        let taken = messages.filter { $0.stream == stream }
        messages.removeAll { $0.stream == stream }
        size -= taken.reduce(0) { $0 + $1.bytes.count }
        return taken
    }
}
