import LoopCore

/// Counters of what a stream received.
public struct ReceiverStatistics: Sendable, Equatable {
    public var packets: UInt64 = 0
    /// Bytes of RTP with headers, after decryption.
    public var bytes: UInt64 = 0
    public var duplicates: UInt64 = 0
    /// Expected minus received; negative when there were duplicates on the way (RFC 3550 section 6.4.1).
    public var lost: Int64 = 0
    /// Interarrival jitter in milliseconds.
    public var jitterMilliseconds: Double = 0
    /// Sequence numbers asked for again.
    public var nacked: UInt64 = 0

    public init() {}
}

/// The receiving half of one RTP stream (RFC 3550): order, loss, jitter, receiver reports and NACKs.
struct ReceiveStream: Sendable {
    let ssrc: UInt32
    let clockRate: UInt32
    private(set) var statistics = ReceiverStatistics()
    private var extender = SequenceExtender()
    private var base: Int64?
    private var received: UInt64 = 0
    private var seen = SequenceWindow()
    private var jitter = 0.0
    private var lastTransit: Int64?
    private var previous: (expected: Int64, received: UInt64) = (0, 0)
    private var lastSenderReport: (middle: UInt32, at: MonotonicTime)?
    private var missing: [Int64: (tries: Int, due: MonotonicTime)] = [:]

    private static let maximumMissing = 64
    private static let maximumTries = 4
    /// Older than this many packets, a retransmission would come too late to be played.
    private static let nackReach: Int64 = 25

    init(ssrc: UInt32, clockRate: UInt32 = 48_000) {
        self.ssrc = ssrc
        self.clockRate = clockRate
    }

    /// Counts a packet. Returns false for a duplicate, which is to be dropped.
    mutating func receive(_ packet: RTPPacket, now: MonotonicTime, wantsNACK: Bool) -> Bool {
        let before = extender.highest
        let number = extender.extend(packet.sequenceNumber)
        guard seen.insert(number) else {
            statistics.duplicates += 1
            return false
        }
        base = base ?? number
        received += 1
        statistics.packets += 1
        statistics.bytes += UInt64(packet.payload.count + RTPPacket.headerLength)
        missing[number] = nil
        if wantsNACK, let before, number > before + 1, number - before <= Self.nackReach {
            for gap in before + 1..<number where missing.count < Self.maximumMissing {
                // A moment's patience: most gaps are reordering.
                missing[gap] = (0, now + .milliseconds(10))
            }
        }
        updateJitter(packet, now: now)
        statistics.lost = expected - Int64(clamping: received)
        return true
    }

    private var expected: Int64 {
        guard let base, let highest = extender.highest else { return 0 }
        return highest - base + 1
    }

    private mutating func updateJitter(_ packet: RTPPacket, now: MonotonicTime) {
        let arrival = Int64(now.seconds * Double(clockRate))
        let transit = arrival &- Int64(packet.timestamp)
        if let lastTransit {
            // Both wrap with the 32-bit timestamp.
            let difference = Int32(truncatingIfNeeded: transit &- lastTransit)
            jitter += (Double(difference.magnitude) - jitter) / 16
        }
        lastTransit = transit
        statistics.jitterMilliseconds = jitter * 1000 / Double(clockRate)
    }

    mutating func handle(_ report: RTCPPacket.SenderReport, now: MonotonicTime) {
        lastSenderReport = (UInt32(truncatingIfNeeded: report.ntpTime >> 16), now)
    }

    /// The report on the interval since the last one.
    mutating func report(now: MonotonicTime) -> RTCPPacket.ReportBlock {
        let expected = expected
        let interval = expected - previous.expected
        let lost = interval - Int64(clamping: received - previous.received)
        previous = (expected, received)
        let fraction = interval > 0 && lost > 0 ? UInt8(clamping: lost * 256 / interval) : 0
        return RTCPPacket.ReportBlock(
            ssrc: ssrc, fractionLost: fraction, cumulativeLost: Int32(clamping: statistics.lost),
            highestSequenceNumber: UInt32(truncatingIfNeeded: extender.highest ?? 0),
            jitter: UInt32(max(0, min(jitter, Double(UInt32.max)))),
            lastSenderReport: lastSenderReport?.middle ?? 0,
            delaySinceLastSenderReport: lastSenderReport.map {
                UInt32(clamping: Int64((now - $0.at).inSeconds * 65_536))
            } ?? 0)
    }

    /// The sequence numbers to ask for now.
    mutating func nacks(now: MonotonicTime) -> [UInt16] {
        guard !missing.isEmpty, let highest = extender.highest else { return [] }
        var due: [Int64] = []
        for (number, state) in missing {
            if number < highest - Self.nackReach || state.tries >= Self.maximumTries {
                missing[number] = nil
            } else if state.due <= now {
                due.append(number)
                missing[number] = (state.tries + 1, now + .milliseconds(50))
            }
        }
        statistics.nacked += UInt64(due.count)
        return due.sorted().map { UInt16(truncatingIfNeeded: $0) }
    }
}

/// Which of the newest sequence numbers were seen: 1,024 of them, older ones count as seen.
struct SequenceWindow: Sendable {
    private static let size: Int64 = 1024
    private var slots = [Int64](repeating: .min, count: Int(size))
    private var highest = Int64.min

    /// Returns false when the number was seen, or is older than the window.
    mutating func insert(_ number: Int64) -> Bool {
        if highest != .min, number <= highest - Self.size { return false }
        let slot = Int(number & (Self.size - 1))
        guard slots[slot] != number else { return false }
        slots[slot] = number
        highest = max(highest, number)
        return true
    }
}
