import LoopCore
import Testing

@testable import RTCTransport

@Suite struct RTPTests {
    private let start = MonotonicTime(nanoseconds: 0)
    private func at(_ milliseconds: Int) -> MonotonicTime { start + .milliseconds(Int64(milliseconds)) }

    private func packet(_ sequence: UInt16, _ timestamp: UInt32 = 0, ssrc: UInt32 = 9, payload: [UInt8] = [1, 2])
        -> RTPPacket
    {
        RTPPacket(payloadType: 111, sequenceNumber: sequence, timestamp: timestamp, ssrc: ssrc, payload: payload)
    }

    // MARK: RTP

    @Test func packetsComeBackAsTheyWere() throws {
        var original = packet(65_535, .max, ssrc: 0xdead_beef, payload: Array(0..<100))
        original.marker = true
        original.contributingSources = [1, 2, 3]
        original.extensions = [.init(id: 1, data: [0x9e]), .init(id: 4, data: Array("mid0".utf8))]
        #expect(try RTPPacket(parsing: original.serialized()) == original)
        original.extensions.append(.init(id: 20, data: Array(repeating: 7, count: 40)))
        #expect(try RTPPacket(parsing: original.serialized()) == original, "an id above 14 takes the two-byte form")
    }

    @Test func paddingIsTakenOffAndChecked() throws {
        var bytes = packet(1, payload: [5]).serialized()
        bytes[0] |= 0x20
        #expect(try RTPPacket(parsing: bytes + [0, 0, 3]).payload == [5])
        #expect(throws: RTPError.malformed) { try RTPPacket(parsing: bytes + [0, 0, 200]) }
        #expect(throws: RTPError.malformed) { try RTPPacket(parsing: bytes + [0]) }
    }

    @Test func whatEndsTooEarlyIsRefused() {
        var original = packet(1)
        original.extensions = [.init(id: 1, data: [1])]
        let bytes = original.serialized()
        for length in 0..<RTPPacket.headerLength + 8 {
            #expect(throws: RTPError.malformed) { try RTPPacket(parsing: Array(bytes.prefix(length))) }
        }
        #expect(throws: RTPError.malformed) { try RTPPacket(parsing: [0x40] + bytes.dropFirst()) }
    }

    // MARK: RED

    @Test func redundancyRepeatsTheTwoFramesBefore() throws {
        var encoder = RedundancyEncoder()
        var last: [UInt8] = []
        for index in 0..<4 {
            last = encoder.encode([UInt8(index), 9], timestamp: UInt32(index) * 960, payloadType: 111)
        }
        let red = try RedundantAudio(parsing: last)
        #expect(red.blocks.map(\.payload) == [[1, 9], [2, 9]])
        #expect(red.blocks.map(\.timestampOffset) == [1920, 960])
        #expect(red.payload == [3, 9] && red.payloadType == 111)
        #expect(red.serialized() == last)
    }

    @Test func whatTheHeaderCannotSayIsLeftOut() throws {
        var encoder = RedundancyEncoder()
        _ = encoder.encode(Array(repeating: 1, count: 1024), timestamp: 0, payloadType: 111)
        #expect(try RedundantAudio(parsing: encoder.encode([2], timestamp: 960, payloadType: 111)).blocks.isEmpty)
        #expect(
            try RedundantAudio(parsing: encoder.encode([3], timestamp: 960 + 16_384, payloadType: 111)).blocks.isEmpty)
        #expect(
            try RedundantAudio(parsing: encoder.encode([4], timestamp: 960 + 16_384 + 960, payloadType: 111)).blocks
                .count == 1)
    }

    @Test func malformedRedundancyIsRefused() {
        for bytes in [[], [0x80], [0xef, 0, 0], [0xef, 0, 0x03, 0xff, 0x6f, 1], Array(repeating: 0x80, count: 400)]
            as [[UInt8]]
        {
            #expect(throws: RTPError.malformed) { try RedundantAudio(parsing: bytes) }
        }
    }

    // MARK: RTCP

    @Test func compoundPacketsComeBackAsTheyWere() throws {
        let block = RTCPPacket.ReportBlock(
            ssrc: 7, fractionLost: 12, cumulativeLost: -3, highestSequenceNumber: 70_000, jitter: 5,
            lastSenderReport: 6,
            delaySinceLastSenderReport: 8)
        let feedback = TransportFeedback(
            sender: 1, media: 2, baseSequenceNumber: 65_530, referenceTime: -5, feedbackCount: 200,
            arrivals: [0, 250, nil, 63_750, 64_000, nil, -250, 250 * 32_767, 0, 500])
        let packets: [RTCPPacket] = [
            .senderReport(
                .init(ssrc: 1, ntpTime: 0x1234_5678_9abc_def0, rtpTime: 3, packetCount: 4, octetCount: 5, reports: [])),
            .receiverReport(.init(ssrc: 1, reports: [block, block])),
            .sourceDescription([.init(ssrc: 1, cname: "name")]),
            .goodbye([1, 2]), .nack(sender: 1, media: 2, sequenceNumbers: [65_535, 0, 16, 40]),
            .pictureLossIndication(sender: 1, media: 2), .transportFeedback(feedback),
            .other(type: 207, count: 3, body: [1, 2, 3, 4]),
        ]
        #expect(try RTCPPacket.parseCompound(RTCPPacket.serialize(packets)) == packets)
    }

    @Test func cutCompoundsAreRefused() throws {
        let bytes = RTCPPacket.serialize([.receiverReport(.init(ssrc: 1, reports: [])), .goodbye([1])])
        for length in 1..<bytes.count where length != 8 {
            #expect(throws: RTPError.malformed) { try RTCPPacket.parseCompound(Array(bytes.prefix(length))) }
        }
    }

    // MARK: Streams

    @Test func lossDuplicatesAndOrderAreCounted() {
        var stream = ReceiveStream(ssrc: 9)
        var accepted: [UInt16] = []
        for sequence in [65_533, 65_534, 0, 65_535, 0, 3, 4] as [UInt16]
        where stream.receive(packet(sequence), now: start, wantsNACK: false) {
            accepted.append(sequence)
        }
        #expect(accepted == [65_533, 65_534, 0, 65_535, 3, 4])
        #expect(stream.statistics.duplicates == 1)
        #expect(stream.statistics.lost == 2)
        let report = stream.report(now: start)
        #expect(report.cumulativeLost == 2 && report.fractionLost == 64)
        #expect(report.highestSequenceNumber == 65_536 + 4)
        #expect(stream.report(now: start).fractionLost == 0)
    }

    @Test func jitterFollowsTheFormula() {
        var stream = ReceiveStream(ssrc: 9)
        var expected = 0.0
        let arrivals = [0, 20, 45, 60, 100, 101]
        for (index, arrival) in arrivals.enumerated() {
            _ = stream.receive(packet(UInt16(index), UInt32(index) * 960), now: at(arrival), wantsNACK: false)
            guard index > 0 else { continue }
            let difference = Double((arrival - arrivals[index - 1]) * 48 - 960)
            expected += (abs(difference) - expected) / 16
        }
        #expect(abs(stream.statistics.jitterMilliseconds - expected / 48) < 0.05)
    }

    @Test func gapsAreAskedForAndGivenUp() {
        var stream = ReceiveStream(ssrc: 9)
        _ = stream.receive(packet(1), now: at(0), wantsNACK: true)
        _ = stream.receive(packet(4), now: at(20), wantsNACK: true)
        #expect(stream.nacks(now: at(21)) == [], "reordering gets a moment")
        #expect(stream.nacks(now: at(31)) == [2, 3])
        #expect(stream.nacks(now: at(40)) == [])
        _ = stream.receive(packet(2), now: at(45), wantsNACK: true)
        var asked = 0
        for time in stride(from: 50, to: 2000, by: 20) { asked += stream.nacks(now: at(time)).count }
        #expect(asked == 3, "four requests in all")
    }

    @Test func retransmissionsAndRoundTrips() throws {
        var stream = SendStream(ssrc: 5)
        var sent: [RTPPacket] = []
        for index in 0..<100 {
            sent.append(
                stream.makePacket(
                    payloadType: 111, timestamp: UInt32(index) * 960, marker: false, extensions: [],
                    payload: [UInt8(index)],
                    now: at(index * 20)))
        }
        #expect(stream.retransmissions(for: [sent[98].sequenceNumber, sent[0].sequenceNumber]) == [sent[98]])
        let made = stream.senderReport(now: at(2000), ntp: 0xaaaa_1111_2222_bbbb)
        let report = try #require(made)
        #expect(report.packetCount == 100 && report.octetCount == 100)
        #expect(report.rtpTime == 99 * 960 + 960)
        stream.handle(
            .init(
                ssrc: 5, fractionLost: 64, cumulativeLost: 7, highestSequenceNumber: 0, jitter: 480,
                lastSenderReport: 0x1111_2222, delaySinceLastSenderReport: 65_536 / 10), now: at(2150))
        #expect(abs(try #require(stream.statistics.roundTripMilliseconds) - 50) < 0.1)
        #expect(stream.statistics.fractionLost == 0.25 && stream.statistics.remoteJitterMilliseconds == 10)
    }

    @Test func aChangeOfTheSourceGoesUnnoticed() {
        var forwarder = StreamForwarder()
        var first: [(sequenceNumber: UInt16, timestamp: UInt32)] = []
        for index in 0..<3 {
            first.append(forwarder.renumber(packet(UInt16(100 + index), UInt32(index) * 960, ssrc: 1)))
        }
        var second: [(sequenceNumber: UInt16, timestamp: UInt32)] = []
        for index in [5000, 5001, 5003] {
            second.append(forwarder.renumber(packet(UInt16(index), UInt32(index) * 960, ssrc: 2)))
        }
        #expect((first + second).map(\.sequenceNumber) == [100, 101, 102, 103, 104, 106])
        #expect(second[0].timestamp == first[2].timestamp + 960)
        #expect(second[2].timestamp == second[0].timestamp + 3 * 960)
    }

    @Test func feedbackTellsWhatArrivedAndWhen() throws {
        var collector = TransportFeedbackCollector()
        #expect(collector.makeFeedback(sender: 1, media: 2) == nil)
        for (number, time) in [(65_534, 100), (65_535, 120), (1, 160)] {
            collector.received(UInt16(number), at: at(time))
        }
        let made = collector.makeFeedback(sender: 1, media: 2)
        let feedback = try #require(made)
        #expect(feedback.baseSequenceNumber == 65_534)
        #expect(feedback.arrivals.map { $0 != nil } == [true, true, false, true])
        #expect(feedback.arrivals[1] == 20_000 && feedback.arrivals[3] == 40_000)
        collector.received(3, at: at(200))
        let more = collector.makeFeedback(sender: 1, media: 2)
        let next = try #require(more)
        #expect(next.baseSequenceNumber == 2 && next.arrivals.count == 2)
        var tally = TransportFeedbackTally()
        tally.add(feedback)
        #expect(tally.reported == 4 && tally.lost == 1)
    }

    // MARK: Anything at all

    @Test func alteredPacketsDoNoHarm() {
        var generator = SeededGenerator(seed: 3)
        var rtp = packet(7, payload: RedundantAudio(payloadType: 111, payload: [1, 2, 3]).serialized())
        rtp.extensions = [.init(id: 1, data: [1]), .init(id: 3, data: [1, 2])]
        let feedback = TransportFeedback(
            sender: 1, media: 2, baseSequenceNumber: 0, referenceTime: 0, feedbackCount: 0, arrivals: [0, nil, 300_000])
        let originals = [
            rtp.serialized(), RTCPPacket.serialize([.transportFeedback(feedback), .goodbye([1])]),
            RTCPPacket.serialize([
                .nack(sender: 1, media: 2, sequenceNumbers: [1, 2, 30]),
                .sourceDescription([.init(ssrc: 1, cname: "x")]),
            ]),
        ]
        for _ in 0..<60_000 {
            var bytes = originals.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
            if let parsed = try? RTPPacket(parsing: bytes) {
                _ = parsed.serialized()
                _ = try? RedundantAudio(parsing: parsed.payload)
            }
            if let packets = try? RTCPPacket.parseCompound(bytes) { _ = RTCPPacket.serialize(packets) }
        }
    }
}
