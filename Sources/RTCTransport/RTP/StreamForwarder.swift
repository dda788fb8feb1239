/// Numbers the packets that an SFU forwards, so that a change of the source goes unnoticed by the receiver: sequence
/// numbers and timestamps go on where they were, while gaps and order within one source stay as they are.
struct StreamForwarder: Sendable {
    private var source: UInt32?
    private var sequenceOffset: UInt16 = 0
    private var timestampOffset: UInt32 = 0
    private var last: (sequenceNumber: UInt16, timestamp: UInt32)?

    /// Timestamp distance put between two sources: one 20 ms frame.
    private static let gap: UInt32 = 960

    mutating func renumber(_ packet: RTPPacket) -> (sequenceNumber: UInt16, timestamp: UInt32) {
        if source != packet.ssrc {
            source = packet.ssrc
            if let last {
                sequenceOffset = last.sequenceNumber &+ 1 &- packet.sequenceNumber
                timestampOffset = last.timestamp &+ Self.gap &- packet.timestamp
            }
        }
        let result = (packet.sequenceNumber &+ sequenceOffset, packet.timestamp &+ timestampOffset)
        if last.map({ Int16(bitPattern: result.0 &- $0.sequenceNumber) > 0 }) ?? true { last = result }
        return result
    }
}
