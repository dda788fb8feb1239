/// One packet of a compound RTCP packet (RFC 3550 section 6, RFC 4585).
public enum RTCPPacket: Sendable, Equatable {
    case senderReport(SenderReport)
    case receiverReport(ReceiverReport)
    case sourceDescription([SourceDescription])
    case goodbye([UInt32])
    /// Generic NACK (RFC 4585 section 6.2.1): sequence numbers that are wanted again.
    case nack(sender: UInt32, media: UInt32, sequenceNumbers: [UInt16])
    /// Picture loss indication (RFC 4585 section 6.3.1).
    case pictureLossIndication(sender: UInt32, media: UInt32)
    case transportFeedback(TransportFeedback)
    /// Any other type, with its count or format field and what follows the header.
    case other(type: UInt8, count: UInt8, body: [UInt8])

    public struct ReportBlock: Sendable, Equatable {
        public var ssrc: UInt32
        /// Share lost since the last report, in 256ths.
        public var fractionLost: UInt8
        /// 24 bits, signed.
        public var cumulativeLost: Int32
        public var highestSequenceNumber: UInt32
        /// In units of the payload's clock.
        public var jitter: UInt32
        /// The middle 32 bits of the NTP time of the last sender report.
        public var lastSenderReport: UInt32
        /// Since that report, in 65,536ths of a second.
        public var delaySinceLastSenderReport: UInt32
    }

    public struct SenderReport: Sendable, Equatable {
        public var ssrc: UInt32
        /// 32.32 fixed-point seconds since 1900.
        public var ntpTime: UInt64
        public var rtpTime: UInt32
        public var packetCount: UInt32
        /// Bytes of payload.
        public var octetCount: UInt32
        public var reports: [ReportBlock]
    }

    public struct ReceiverReport: Sendable, Equatable {
        public var ssrc: UInt32
        public var reports: [ReportBlock]
    }

    public struct SourceDescription: Sendable, Equatable {
        public var ssrc: UInt32
        public var cname: String
    }
}

extension RTCPPacket {
    private enum PacketType {
        static let senderReport: UInt8 = 200
        static let receiverReport: UInt8 = 201
        static let sourceDescription: UInt8 = 202
        static let goodbye: UInt8 = 203
        static let transportLayerFeedback: UInt8 = 205
        static let payloadFeedback: UInt8 = 206
    }

    /// Sequence numbers of one NACK that are still acted on.
    static let maximumNACKs = 512

    /// Parses a compound packet, reduced-size ones (RFC 5506) included. Packets of unknown type are kept as `other`.
    /// - Throws: ``RTPError/malformed`` when a length or version does not fit.
    public static func parseCompound(_ bytes: [UInt8]) throws(RTPError) -> [RTCPPacket] {
        var packets: [RTCPPacket] = []
        var position = 0
        guard bytes.count >= 4 else { throw .malformed }
        while position + 4 <= bytes.count {
            guard bytes[position] >> 6 == 2 else { throw .malformed }
            let count = bytes[position] & 0x1f
            let type = bytes[position + 1]
            let end = position + 4 + 4 * Int(bytes.uint16(at: position + 2))
            guard end <= bytes.count else { throw .malformed }
            var body = Array(bytes[position + 4..<end])
            if bytes[position] & 0x20 != 0, let padding = body.last {
                guard padding > 0, Int(padding) <= body.count else { throw .malformed }
                body.removeLast(Int(padding))
            }
            packets.append(try parse(type: type, count: count, body: body))
            position = end
        }
        guard position == bytes.count else { throw .malformed }
        return packets
    }

    private static func parse(type: UInt8, count: UInt8, body: [UInt8]) throws(RTPError) -> RTCPPacket {
        switch (type, count) {
        case (PacketType.senderReport, _):
            guard body.count >= 24 + 24 * Int(count) else { throw .malformed }
            return .senderReport(
                SenderReport(
                    ssrc: body.uint32(at: 0), ntpTime: body.uint64(at: 4), rtpTime: body.uint32(at: 12),
                    packetCount: body.uint32(at: 16), octetCount: body.uint32(at: 20),
                    reports: reports(body, from: 24, count: count)))
        case (PacketType.receiverReport, _):
            guard body.count >= 4 + 24 * Int(count) else { throw .malformed }
            return .receiverReport(
                ReceiverReport(ssrc: body.uint32(at: 0), reports: reports(body, from: 4, count: count)))
        case (PacketType.sourceDescription, _):
            return .sourceDescription(sourceDescriptions(body, count: count))
        case (PacketType.goodbye, _):
            guard body.count >= 4 * Int(count) else { throw .malformed }
            return .goodbye((0..<Int(count)).map { body.uint32(at: 4 * $0) })
        case (PacketType.transportLayerFeedback, 1):
            guard body.count >= 8 else { throw .malformed }
            return .nack(
                sender: body.uint32(at: 0), media: body.uint32(at: 4), sequenceNumbers: nackedSequences(body))
        case (PacketType.transportLayerFeedback, 15):
            return .transportFeedback(try TransportFeedback(parsing: body))
        case (PacketType.payloadFeedback, 1):
            guard body.count >= 8 else { throw .malformed }
            return .pictureLossIndication(sender: body.uint32(at: 0), media: body.uint32(at: 4))
        default:
            return .other(type: type, count: count, body: body)
        }
    }

    private static func reports(_ body: [UInt8], from start: Int, count: UInt8) -> [ReportBlock] {
        (0..<Int(count)).map { index in
            let at = start + 24 * index
            let lost = Int32(bitPattern: body.uint24(at: at + 5) << 8) >> 8
            return ReportBlock(
                ssrc: body.uint32(at: at), fractionLost: body[at + 4], cumulativeLost: lost,
                highestSequenceNumber: body.uint32(at: at + 8), jitter: body.uint32(at: at + 12),
                lastSenderReport: body.uint32(at: at + 16), delaySinceLastSenderReport: body.uint32(at: at + 20))
        }
    }

    private static func sourceDescriptions(_ body: [UInt8], count: UInt8) -> [SourceDescription] {
        var result: [SourceDescription] = []
        var position = 0
        while result.count < Int(count), position + 4 <= body.count {
            var chunk = SourceDescription(ssrc: body.uint32(at: position), cname: "")
            position += 4
            while position < body.count, body[position] != 0 {
                guard position + 2 <= body.count, position + 2 + Int(body[position + 1]) <= body.count else {
                    return result
                }
                let length = Int(body[position + 1])
                if body[position] == 1 {
                    chunk.cname = String(decoding: body[position + 2..<position + 2 + length], as: UTF8.self)
                }
                position += 2 + length
            }
            result.append(chunk)
            position = (position / 4 + 1) * 4
        }
        return result
    }

    private static func nackedSequences(_ body: [UInt8]) -> [UInt16] {
        var result: [UInt16] = []
        var position = 8
        while position + 4 <= body.count, result.count < maximumNACKs {
            let first = body.uint16(at: position)
            let mask = body.uint16(at: position + 2)
            result.append(first)
            for bit in 0..<16 where mask & (1 << UInt16(bit)) != 0 { result.append(first &+ UInt16(bit + 1)) }
            position += 4
        }
        return result
    }

    /// Several packets as one compound packet.
    public static func serialize(_ packets: [RTCPPacket]) -> [UInt8] {
        var bytes: [UInt8] = []
        for packet in packets { packet.append(to: &bytes) }
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        var body: [UInt8] = []
        let type: UInt8
        let count: UInt8
        switch self {
        case .senderReport(let report):
            (type, count) = (PacketType.senderReport, UInt8(min(31, report.reports.count)))
            body.append(bigEndian: report.ssrc)
            body.append(bigEndian: report.ntpTime)
            body.append(bigEndian: report.rtpTime)
            body.append(bigEndian: report.packetCount)
            body.append(bigEndian: report.octetCount)
            Self.append(report.reports, to: &body)
        case .receiverReport(let report):
            (type, count) = (PacketType.receiverReport, UInt8(min(31, report.reports.count)))
            body.append(bigEndian: report.ssrc)
            Self.append(report.reports, to: &body)
        case .sourceDescription(let chunks):
            (type, count) = (PacketType.sourceDescription, UInt8(min(31, chunks.count)))
            for chunk in chunks.prefix(31) {
                let name = Array(chunk.cname.utf8.prefix(255))
                body.append(bigEndian: chunk.ssrc)
                body.append(1)
                body.append(UInt8(name.count))
                body.append(contentsOf: name)
                repeat { body.append(0) } while body.count % 4 != 0
            }
        case .goodbye(let sources):
            (type, count) = (PacketType.goodbye, UInt8(min(31, sources.count)))
            for source in sources.prefix(31) { body.append(bigEndian: source) }
        case .nack(let sender, let media, let sequenceNumbers):
            (type, count) = (PacketType.transportLayerFeedback, 1)
            body.append(bigEndian: sender)
            body.append(bigEndian: media)
            Self.append(nacks: sequenceNumbers, to: &body)
        case .pictureLossIndication(let sender, let media):
            (type, count) = (PacketType.payloadFeedback, 1)
            body.append(bigEndian: sender)
            body.append(bigEndian: media)
        case .transportFeedback(let feedback):
            (type, count) = (PacketType.transportLayerFeedback, 15)
            body = feedback.serialized()
        case .other(let otherType, let otherCount, let otherBody):
            (type, count) = (otherType, otherCount & 0x1f)
            body = otherBody
            while body.count % 4 != 0 { body.append(0) }
        }
        bytes.append(0x80 | count)
        bytes.append(type)
        bytes.append(bigEndian: UInt16(truncatingIfNeeded: body.count / 4))
        bytes.append(contentsOf: body)
    }

    private static func append(_ reports: [ReportBlock], to body: inout [UInt8]) {
        for report in reports.prefix(31) {
            body.append(bigEndian: report.ssrc)
            let lost = UInt32(bitPattern: min(max(report.cumulativeLost, -(1 << 23)), (1 << 23) - 1)) & 0xff_ffff
            body.append(bigEndian: UInt32(report.fractionLost) << 24 | lost)
            body.append(bigEndian: report.highestSequenceNumber)
            body.append(bigEndian: report.jitter)
            body.append(bigEndian: report.lastSenderReport)
            body.append(bigEndian: report.delaySinceLastSenderReport)
        }
    }

    private static func append(nacks: [UInt16], to body: inout [UInt8]) {
        var rest = nacks[...]
        while let first = rest.popFirst() {
            var mask: UInt16 = 0
            while let next = rest.first, (1...16).contains(next &- first) {
                mask |= 1 << (next &- first - 1)
                rest.removeFirst()
            }
            body.append(bigEndian: first)
            body.append(bigEndian: mask)
        }
    }
}
