import LoopCore

/// Counters of what a stream sent and what its receiver reported.
public struct SenderStatistics: Sendable, Equatable {
    public var packets: UInt64 = 0
    /// Bytes of RTP with headers, before encryption.
    public var bytes: UInt64 = 0
    public var payloadBytes: UInt64 = 0
    /// Packets sent again because the receiver asked.
    public var retransmitted: UInt64 = 0
    /// From the newest receiver report.
    public var cumulativeLost: Int32 = 0
    /// Share lost in the interval of the newest receiver report, 0...1.
    public var fractionLost: Double = 0
    /// Jitter the receiver reports, in milliseconds.
    public var remoteJitterMilliseconds: Double = 0
    /// From reports, in milliseconds.
    public var roundTripMilliseconds: Double?

    public init() {}
}

/// The sending half of one RTP stream (RFC 3550): numbering, sender reports and a history for retransmission.
struct SendStream: Sendable {
    let ssrc: UInt32
    let clockRate: UInt32
    private(set) var statistics = SenderStatistics()
    private var sequenceNumber: UInt16
    private var lastTimestamp: (rtp: UInt32, at: MonotonicTime)?
    private var sentReports: [(ntp: UInt32, at: MonotonicTime)] = []
    private var history: [RTPPacket?] = []

    /// Packets kept for retransmission: a second of 20 ms frames, rounded up to a power of two.
    private static let historyLength = 64

    init(ssrc: UInt32 = .random(in: 1 ... .max), clockRate: UInt32 = 48_000) {
        self.ssrc = ssrc
        self.clockRate = clockRate
        // RFC 3550 section 5.1: random, and in the lower half so that SRTP's rollover is not met at once.
        sequenceNumber = .random(in: 0..<0x8000)
        history = Array(repeating: nil, count: Self.historyLength)
    }

    /// Numbers a packet and counts it.
    mutating func makePacket(
        payloadType: UInt8, timestamp: UInt32, marker: Bool, extensions: [RTPPacket.HeaderExtension],
        payload: [UInt8], now: MonotonicTime
    ) -> RTPPacket {
        var packet = RTPPacket(
            payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: ssrc,
            payload: payload)
        packet.marker = marker
        packet.extensions = extensions
        sequenceNumber &+= 1
        note(packet, now: now)
        return packet
    }

    /// Counts a packet that an SFU forwards under this stream's SSRC, keeping the sequence numbers of its source
    /// (shifted by a constant), so that gaps stay gaps.
    mutating func note(_ packet: RTPPacket, now: MonotonicTime) {
        statistics.packets += 1
        statistics.payloadBytes += UInt64(packet.payload.count)
        statistics.bytes += UInt64(packet.payload.count + RTPPacket.headerLength)
        lastTimestamp = (packet.timestamp, now)
        history[Int(packet.sequenceNumber) % Self.historyLength] = packet
    }

    /// The packets that a NACK asks for and that are still at hand.
    mutating func retransmissions(for sequenceNumbers: [UInt16]) -> [RTPPacket] {
        let packets = sequenceNumbers.compactMap { number -> RTPPacket? in
            let packet = history[Int(number) % Self.historyLength]
            return packet?.sequenceNumber == number ? packet : nil
        }
        statistics.retransmitted += UInt64(packets.count)
        return packets
    }

    /// A sender report for now; nil before anything was sent.
    /// - Parameter ntp: wall-clock time, 32.32 fixed-point seconds since 1900.
    mutating func senderReport(now: MonotonicTime, ntp: UInt64) -> RTCPPacket.SenderReport? {
        guard let lastTimestamp else { return nil }
        let elapsed = (now - lastTimestamp.at).inSeconds * Double(clockRate)
        let middle = UInt32(truncatingIfNeeded: ntp >> 16)
        sentReports.append((middle, now))
        if sentReports.count > 16 { sentReports.removeFirst() }
        return RTCPPacket.SenderReport(
            ssrc: ssrc, ntpTime: ntp,
            rtpTime: lastTimestamp.rtp &+ UInt32(truncatingIfNeeded: Int64(max(0, elapsed))),
            packetCount: UInt32(truncatingIfNeeded: statistics.packets),
            octetCount: UInt32(truncatingIfNeeded: statistics.payloadBytes), reports: [])
    }

    /// Takes a receiver's report on this stream.
    mutating func handle(_ report: RTCPPacket.ReportBlock, now: MonotonicTime) {
        statistics.cumulativeLost = report.cumulativeLost
        statistics.fractionLost = Double(report.fractionLost) / 256
        statistics.remoteJitterMilliseconds = Double(report.jitter) * 1000 / Double(clockRate)
        guard report.lastSenderReport != 0,
            let sent = sentReports.last(where: { $0.ntp == report.lastSenderReport })
        else { return }
        let held = Duration.microseconds(Int64(report.delaySinceLastSenderReport) * 1_000_000 / 65_536)
        let roundTrip = now - sent.at - held
        if roundTrip >= .zero { statistics.roundTripMilliseconds = roundTrip.milliseconds }
    }
}
