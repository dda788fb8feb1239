import LoopCore

/// What arrives with transport-wide sequence numbers, collected into feedback packets.
struct TransportFeedbackCollector: Sendable {
    private var arrivals: [Int64: MonotonicTime] = [:]
    private var extender = SequenceExtender()
    private var next: Int64?
    private var count: UInt8 = 0

    /// Packets waiting to be reported at most.
    private static let limit = 1024

    mutating func received(_ sequenceNumber: UInt16, at time: MonotonicTime) {
        let number = extender.extend(sequenceNumber)
        if let next, number < next { return }
        guard arrivals.count < Self.limit else { return }
        arrivals[number] = arrivals[number] ?? time
    }

    /// The feedback for everything since the last one; nil when nothing arrived.
    mutating func makeFeedback(sender: UInt32, media: UInt32) -> TransportFeedback? {
        guard let lowest = arrivals.keys.min(), let highest = arrivals.keys.max() else { return nil }
        let base = max(next ?? lowest, highest - Int64(Self.limit) + 1)
        guard let first = arrivals.keys.filter({ $0 >= base }).min(), let firstArrival = arrivals[first] else {
            arrivals.removeAll()
            return nil
        }
        let reference = firstArrival.nanoseconds / 64_000_000
        var last = reference * 64_000
        let deltas = (base...highest).map { number -> Int32? in
            guard let time = arrivals[number] else { return nil }
            let ticks = (time.nanoseconds / 1000 - last) / 250
            last += ticks * 250
            return Int32(clamping: ticks * 250)
        }
        arrivals.removeAll(keepingCapacity: true)
        next = highest + 1
        defer { count &+= 1 }
        return TransportFeedback(
            sender: sender, media: media, baseSequenceNumber: UInt16(truncatingIfNeeded: base),
            referenceTime: Int32(truncatingIfNeeded: reference & 0x7f_ffff), feedbackCount: count, arrivals: deltas)
    }
}

/// Counts what transport-wide feedback says of the packets that this end sent.
struct TransportFeedbackTally: Sendable {
    private(set) var reported = 0
    private(set) var lost = 0

    mutating func add(_ feedback: TransportFeedback) {
        reported += feedback.arrivals.count
        lost += feedback.arrivals.count { $0 == nil }
    }
}
