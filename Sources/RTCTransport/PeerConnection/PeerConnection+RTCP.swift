import Foundation
import LoopCore

/// What the ends of a connection tell each other of their media (RTCP, RFC 3550; feedback, RFC 4585).
extension PeerConnection {
    func send(rtcp packets: [RTCPPacket]) {
        guard let srtp, let ice, !packets.isEmpty else { return }
        var bytes = RTCPPacket.serialize(packets)
        guard (try? srtp.protect(rtcp: &bytes)) != nil else { return }
        _ = bytes.withUnsafeBytes { ice.send($0) }
    }

    func receive(rtcp bytes: [UInt8]) {
        var bytes = bytes
        guard let srtp, (try? srtp.unprotect(srtcp: &bytes)) != nil,
            let packets = try? RTCPPacket.parseCompound(bytes)
        else {
            counters.discardedPackets += 1
            return
        }
        let now = MonotonicTime.now
        for packet in packets { handle(packet, now: now) }
    }

    private func handle(_ packet: RTCPPacket, now: MonotonicTime) {
        switch packet {
        case .senderReport(let report):
            transceivers.first { $0.receive?.ssrc == report.ssrc }?.receive?.handle(report, now: now)
            handle(report.reports, now: now)
        case .receiverReport(let report):
            handle(report.reports, now: now)
        case .nack(_, let media, let sequenceNumbers):
            guard let transceiver = transceivers.first(where: { $0.ssrc == media }) else { return }
            for again in transceiver.send.retransmissions(for: sequenceNumbers) { send(again) }
        case .transportFeedback(let feedback):
            tally.add(feedback)
        case .sourceDescription, .goodbye, .pictureLossIndication, .other:
            break
        }
    }

    private func handle(_ reports: [RTCPPacket.ReportBlock], now: MonotonicTime) {
        for report in reports {
            transceivers.first { $0.ssrc == report.ssrc }?.send.handle(report, now: now)
        }
    }

    /// Every 100 ms: transport-wide feedback where it was agreed; every second sender and receiver reports.
    func sendReports() {
        let now = MonotonicTime.now
        rtcpTicks += 1
        let receiving = transceivers.filter { $0.receive != nil }
        let sender = transceivers.first?.ssrc ?? 1
        if let media = receiving.first?.receive?.ssrc,
            let report = feedback.makeFeedback(sender: sender, media: media)
        {
            send(rtcp: [.transportFeedback(report)])
        }
        guard rtcpTicks % 10 == 0 else { return }
        var blocks: [RTCPPacket.ReportBlock] = []
        for transceiver in receiving.prefix(31) {
            if let block = transceiver.receive?.report(now: now) { blocks.append(block) }
        }
        var packets: [RTCPPacket] = []
        for transceiver in transceivers where transceiver.currentDirection?.sends == true {
            guard let report = transceiver.send.senderReport(now: now, ntp: Self.ntpTime) else { continue }
            packets.append(.senderReport(report))
        }
        if packets.isEmpty || !blocks.isEmpty {
            packets.append(.receiverReport(.init(ssrc: sender, reports: blocks)))
        }
        packets.append(.sourceDescription([.init(ssrc: sender, cname: cname)]))
        send(rtcp: packets)
    }

    /// Wall-clock time in NTP format: 32.32 fixed-point seconds since 1900.
    private static var ntpTime: UInt64 {
        let seconds = Date().timeIntervalSince1970 + 2_208_988_800
        return UInt64(seconds * 4_294_967_296)
    }
}
