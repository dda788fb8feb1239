import LoopCore
import Testing

@testable import RTCTransport

@Suite struct DTLSTransportTests {
    private func withPair(_ body: (DTLSPair) async throws -> Void) async throws {
        let loop = EventLoop(name: "dtls-test")
        let pair = DTLSPair(loop: loop)
        try await body(pair)
        await pair.end()
        loop.stop()
    }

    @Test(arguments: [true, false]) func connects(firstIsClient: Bool) async throws {
        try await withPair { pair in
            try await pair.make(roles: firstIsClient ? (.client, .server) : (.server, .client))
            await pair.start()
            #expect(await eventually { await pair.bothConnected })
            let keys = await (try #require(pair.keying(0)), try #require(pair.keying(1)))
            #expect(keys.0.profile == .aeadAES128GCM)
            #expect(keys.0.local == keys.1.remote)
            #expect(keys.0.remote == keys.1.local)
            #expect(keys.0.local != keys.0.remote)
            #expect(await pair.states[0] == [.connecting, .connected])
            #expect(await pair.largestDatagram <= DTLSTransport.mtu)

            await pair.send([1, 2, 3], from: 0)
            await pair.send([UInt8](repeating: 7, count: 1100), from: 1)
            #expect(await eventually { await pair.received[1] == [[1, 2, 3]] })
            #expect(await eventually { await pair.received[0].first?.count == 1100 })
        }
    }

    @Test(arguments: SRTPProfile.allCases) func agreesOnTheProfile(profile: SRTPProfile) async throws {
        try await withPair { pair in
            try await pair.make(profiles: [[profile], SRTPProfile.allCases])
            await pair.start()
            #expect(await eventually { await pair.bothConnected })
            #expect(await pair.keying(0)?.profile == profile)
            #expect(await pair.keying(1)?.profile == profile)
            #expect(await pair.keying(1)?.local.count == profile.keyLength + profile.saltLength)
        }
    }

    @Test(arguments: [0, 1]) func wrongFingerprintFailsBothEnds(suspicious: Int) async throws {
        try await withPair { pair in
            let wrong = [DTLSFingerprint(algorithm: "sha-256", value: try DTLSCertificate.generate().fingerprint)]
            var announced: [[DTLSFingerprint]?] = [nil, nil]
            announced[suspicious] = wrong
            try await pair.make(announced: announced)
            await pair.start()
            #expect(await eventually { await pair.bothFailed })
            #expect(await pair.keying(0) == nil)
            #expect(await pair.keying(1) == nil)
            guard case .failed(let reason) = await pair.state(suspicious) else { return }
            #expect(reason.contains("does not match the fingerprint"))
            await pair.send([1], from: 0)
            try await Task.sleep(for: .milliseconds(20))
            #expect(await pair.received[1].isEmpty)
            #expect(await pair.states[1].contains(.connected) == false)
        }
    }

    @Test(arguments: [
        [], [DTLSFingerprint(algorithm: "sha-256", value: "")], [DTLSFingerprint(algorithm: "md5", value: "AA")],
    ])
    func noUsableFingerprintFails(announced: [DTLSFingerprint]) async throws {
        try await withPair { pair in
            try await pair.make(announced: [announced, nil])
            await pair.start()
            #expect(await eventually { await pair.bothFailed })
            #expect(await pair.keying(0) == nil)
        }
    }

    @Test(arguments: ["sha-1", "SHA-224", "sha-256", "Sha-384", "sha-512"])
    func otherHashFunctions(algorithm: String) throws {
        let certificate = try DTLSCertificate.generate()
        let fingerprint = try #require(
            DTLSFingerprint(of: certificate.certificate, algorithm: algorithm.lowercased()))
        let spelled = DTLSFingerprint(algorithm: algorithm, value: fingerprint.value.lowercased())
        #expect([spelled].match(certificate.certificate))
        let other = try DTLSCertificate.generate()
        #expect(![spelled].match(other.certificate))
        // A strong one that is wrong is not made good by a weak one that is right.
        let wrong = DTLSFingerprint(algorithm: "sha-512", value: "00")
        #expect(![spelled, wrong].match(certificate.certificate) || algorithm == "sha-512")
    }

    @Test(arguments: 1...4) func impairedHandshakes(seed: Int) async throws {
        try await withPair { pair in
            try await pair.make(
                impair: {
                    $0.loss = 0.2
                    $0.duplication = 0.2
                    $0.reordering = 0.3
                }, seed: UInt64(seed))
            await pair.start()
            #expect(await eventually(within: .seconds(20)) { await pair.bothConnected })
            let keys = await (pair.keying(0), pair.keying(1))
            #expect(keys.0?.local == keys.1?.remote)
        }
    }

    @Test func helloBeforeStartIsKept() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.start(0)
            try await Task.sleep(for: .milliseconds(30))
            await pair.start(1)
            #expect(await eventually { await pair.bothConnected })
        }
    }

    @Test func closeReachesThePeer() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.start()
            #expect(await eventually { await pair.bothConnected })
            await pair.close(0)
            await pair.close(0)
            #expect(await eventually { await pair.state(1) == .closed })
            #expect(await pair.states[0] == [.connecting, .connected])
        }
    }

    @Test func garbageIsHarmless() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.start()
            #expect(await eventually { await pair.bothConnected })
            var generator = SeededGenerator(seed: 3)
            for _ in 0..<2000 {
                var bytes = generator.bytes(Int.random(in: 0...200, using: &generator))
                if !bytes.isEmpty { bytes[0] = UInt8.random(in: 18...66, using: &generator) }
                if bytes.count > 13, Bool.random(using: &generator) {
                    bytes.replaceSubrange(1..<3, with: [0xfe, 0xfd])
                    bytes[11] = 0
                    bytes[12] = UInt8(bytes.count - 13 & 0xff)
                }
                await pair.inject(bytes, to: Int.random(in: 0...1, using: &generator))
            }
            await pair.send([5], from: 0)
            #expect(await eventually { await pair.received[1].contains([5]) })
        }
    }

    @Test func garbageDuringTheHandshakeIsHarmless() async throws {
        try await withPair { pair in
            try await pair.make()
            var generator = SeededGenerator(seed: 5)
            await pair.start(1)
            for _ in 0..<500 {
                var bytes: [UInt8] = [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
                let body = generator.bytes(Int.random(in: 0...100, using: &generator))
                bytes[12] = UInt8(body.count)
                await pair.inject(bytes + body, to: 1)
            }
            await pair.close(1)
        }
    }

    @Test func certificatesDiffer() throws {
        let first = try DTLSCertificate.generate()
        let second = try DTLSCertificate.generate()
        #expect(first.fingerprint != second.fingerprint)
        #expect(first.fingerprint.split(separator: ":").count == 32)
    }

    /// Handshake and data records altered on the way: the handshake may fail, but never succeed with other keys.
    @Test(arguments: 1...6) func alteredRecordsAreHarmless(seed: Int) async throws {
        try await withPair { pair in
            try await pair.make(impair: { $0.corruption = 0.15 }, seed: UInt64(seed) &* 1000)
            await pair.start()
            _ = await eventually(within: .seconds(2)) { await pair.isDecided }
            for _ in 0..<20 {
                await pair.send([1, 2, 3], from: 0)
                await pair.send([4], from: 1)
            }
            try await Task.sleep(for: .milliseconds(50))
            let keys = await (pair.keying(0), pair.keying(1))
            if let first = keys.0, let second = keys.1 { #expect(first.local == second.remote) }
            #expect(await pair.received[1].allSatisfy { $0 == [1, 2, 3] })
        }
    }
}
