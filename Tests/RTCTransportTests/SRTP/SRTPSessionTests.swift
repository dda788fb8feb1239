import Testing

@testable import RTCTransport

@Suite struct SRTPSessionTests {
    private func pair(_ profile: SRTPProfile) throws -> (SRTPSession, SRTPSession) {
        var generator = SeededGenerator(seed: 9)
        let exported = generator.bytes(2 * (profile.keyLength + profile.saltLength))
        return (
            try SRTPSession(keying: exported, profile: profile, role: .client),
            try SRTPSession(keying: exported, profile: profile, role: .server)
        )
    }

    private func rtp(_ sequence: UInt16, ssrc: UInt8 = 1, payload: Int = 40) -> [UInt8] {
        [0x80, 111, UInt8(sequence >> 8), UInt8(sequence & 0xff), 0, 0, 0, 9, 0, 0, 0, ssrc]
            + (0..<payload).map { UInt8($0 & 0xff) }
    }

    private let report: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 1]

    @Test(arguments: SRTPProfile.allCases) func roundTrips(profile: SRTPProfile) throws {
        let (sender, receiver) = try pair(profile)
        for sequence in [65534, 65535, 0, 1] as [UInt16] {
            let plain = rtp(sequence)
            var packet = plain
            try sender.protect(rtp: &packet)
            #expect(packet.count == plain.count + profile.tagLength)
            #expect(!packet[12...].starts(with: plain[12...]))
            try receiver.unprotect(srtp: &packet)
            #expect(packet == plain)
        }
        var packet = report
        try sender.protect(rtcp: &packet)
        #expect(packet.count == report.count + profile.tagLength + 4)
        try receiver.unprotect(srtcp: &packet)
        #expect(packet == report)
        // And the other way round.
        packet = rtp(1)
        try receiver.protect(rtp: &packet)
        try sender.unprotect(srtp: &packet)
        #expect(packet == rtp(1))
    }

    @Test(arguments: SRTPProfile.allCases) func refusesReplays(profile: SRTPProfile) throws {
        let (sender, receiver) = try pair(profile)
        var packet = rtp(7)
        try sender.protect(rtp: &packet)
        var first = packet
        try receiver.unprotect(srtp: &first)
        var second = packet
        #expect(throws: SRTPError.replayed) { try receiver.unprotect(srtp: &second) }
        var control = report
        try sender.protect(rtcp: &control)
        var again = control
        try receiver.unprotect(srtcp: &control)
        #expect(throws: SRTPError.replayed) { try receiver.unprotect(srtcp: &again) }
        #expect(receiver.statistics.replays == 2)
        // Within the window late packets are welcome, behind it they are not.
        var late = rtp(6)
        try sender.protect(rtp: &late)
        try receiver.unprotect(srtp: &late)
    }

    @Test func refusesPacketsBehindTheWindow() throws {
        let (sender, receiver) = try pair(.aeadAES128GCM)
        var old = rtp(1)
        try sender.protect(rtp: &old)
        var new = rtp(UInt16(SRTPSession.replayWindow + 10))
        try sender.protect(rtp: &new)
        try receiver.unprotect(srtp: &new)
        #expect(throws: SRTPError.replayed) { try receiver.unprotect(srtp: &old) }
    }

    @Test func retransmissionsMayRepeat() throws {
        let (sender, _) = try pair(.aes128CMHMACSHA1)
        var first = rtp(3)
        var second = rtp(3)
        try sender.protect(rtp: &first)
        try sender.protect(rtp: &second)
        #expect(first == second)
    }

    @Test(arguments: SRTPProfile.allCases) func refusesTampering(profile: SRTPProfile) throws {
        let (sender, receiver) = try pair(profile)
        var packet = rtp(1)
        try sender.protect(rtp: &packet)
        var control = report
        try sender.protect(rtcp: &control)
        // Every bit of the header, payload and tag is authenticated; the first byte decides what is parsed at all.
        for index in 1..<packet.count {
            var tampered = packet
            tampered[index] ^= 0x10
            #expect(throws: SRTPError.self) { try receiver.unprotect(srtp: &tampered) }
        }
        for index in 4..<control.count {
            var tampered = control
            tampered[index] ^= 0x10
            #expect(throws: SRTPError.self) { try receiver.unprotect(srtcp: &tampered) }
        }
        #expect(receiver.statistics.authenticationFailures > 0)
        try receiver.unprotect(srtp: &packet)
        try receiver.unprotect(srtcp: &control)
    }

    @Test func refusesOtherKeys() throws {
        let (sender, _) = try pair(.aeadAES128GCM)
        let stranger = try SRTPSession(
            keying: [UInt8](repeating: 1, count: 56), profile: .aeadAES128GCM, role: .server)
        var packet = rtp(1)
        try sender.protect(rtp: &packet)
        #expect(throws: SRTPError.authenticationFailed) { try stranger.unprotect(srtp: &packet) }
        #expect(throws: SRTPError.malformed) {
            try SRTPSession(keying: [1, 2], profile: .aeadAES128GCM, role: .client)
        }
    }

    @Test func sourcesAreBounded() throws {
        let (sender, _) = try pair(.aeadAES128GCM)
        for source in 0..<SRTPSession.maxSources {
            var packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 9, 0, 0, UInt8(source >> 8), UInt8(source & 0xff), 1]
            try sender.protect(rtp: &packet)
        }
        var packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 9, 0, 9, 9, 9, 1]
        #expect(throws: SRTPError.tooManySources) { try sender.protect(rtp: &packet) }
    }

    @Test func garbageIsRefused() throws {
        let (_, receiver) = try pair(.aeadAES128GCM)
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<5000 {
            var bytes = generator.bytes(Int.random(in: 0...120, using: &generator))
            if !bytes.isEmpty, Bool.random(using: &generator) { bytes[0] = 0x80 | bytes[0] & 0x3f }
            var copy = bytes
            #expect(throws: SRTPError.self) { try receiver.unprotect(srtp: &bytes) }
            #expect(throws: SRTPError.self) { try receiver.unprotect(srtcp: &copy) }
        }
        var huge = [UInt8](repeating: 0x80, count: 5000)
        #expect(throws: SRTPError.malformed) { try receiver.unprotect(srtp: &huge) }
    }
}
