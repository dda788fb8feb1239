import LoopCore
import Testing

@testable import RTCTransport

/// Relayed connections through a real TURN server.
@Suite(.serialized, .enabled(if: TURNServer.executable != nil, "turnserver (package coturn) is not installed"))
struct TURNTests {
    private func withPair(_ body: (ICEPair) async throws -> Void) async throws {
        let loop = EventLoop(name: "turn-test")
        let pair = ICEPair(loop: loop)
        try await body(pair)
        await pair.end()
        try await Task.sleep(for: .milliseconds(100))
        loop.stop()
    }

    private func configuration(_ url: String, password: String = TURNServer.password) -> ICEConfiguration {
        var configuration = ICEConfiguration()
        configuration.loopbackOnly = true
        configuration.relayOnly = true
        configuration.servers = [ICEServer(urls: [url], username: TURNServer.username, credential: password)]
        return configuration
    }

    @Test(arguments: ["udp", "tcp"]) func relays(transport: String) async throws {
        let server = try #require(try await TURNServer())
        let relayed = configuration("turn:127.0.0.1:\(server.port)?transport=\(transport)")
        try await withPair { pair in
            await pair.make(relayed, relayed)
            await pair.connect()
            #expect(await eventually(within: .seconds(20)) { await pair.bothConnected })
            #expect(await pair.send([1, 2, 3], from: 0))
            #expect(await pair.send([UInt8](repeating: 4, count: 1200), from: 1))
            #expect(await eventually { await pair.received[1].contains([1, 2, 3]) })
            #expect(await eventually { await pair.received[0].first?.count == 1200 })
            #expect(await pair.candidates[0].allSatisfy { $0.contains(" typ relay") })
            #expect(await pair.pair(0)?.local.type == "relay")
        }
        withExtendedLifetime(server) {}
    }

    @Test func relaysOverTLS() async throws {
        let server = try #require(try await TURNServer())
        var relayed = configuration("turns:localhost:\(server.tlsPort)?transport=tcp")
        relayed.turnAuthoritiesFile = server.certificateFile
        try await withPair { [relayed] pair in
            await pair.make(relayed, relayed)
            await pair.connect()
            #expect(await eventually(within: .seconds(20)) { await pair.bothConnected })
            #expect(await pair.send([1, 2, 3], from: 0))
            #expect(await eventually { await pair.received[1].contains([1, 2, 3]) })
        }
        // The certificate is not one that the system trusts.
        let untrusted = configuration("turns:localhost:\(server.tlsPort)")
        try await withPair { pair in
            await pair.make(untrusted, untrusted)
            await pair.connect()
            try await Task.sleep(for: .milliseconds(1000))
            #expect(await pair.candidates[0].isEmpty)
            #expect(await pair.bothConnected == false)
        }
        withExtendedLifetime(server) {}
    }

    @Test func relaysOnOneSideOnly() async throws {
        let server = try #require(try await TURNServer())
        let relayed = configuration("turn:localhost:\(server.port)")
        var direct = ICEConfiguration()
        direct.loopbackOnly = true
        try await withPair { [direct] pair in
            await pair.make(relayed, direct)
            await pair.connect()
            #expect(await eventually(within: .seconds(20)) { await pair.bothConnected })
            #expect(await pair.send([1], from: 0))
            #expect(await eventually { await pair.received[1].contains([1]) })
            #expect(await pair.pair(0)?.local.type == "relay")
        }
        withExtendedLifetime(server) {}
    }

    @Test func wrongPasswordGathersNothing() async throws {
        let server = try #require(try await TURNServer())
        let relayed = configuration("turn:127.0.0.1:\(server.port)", password: "wrong")
        try await withPair { pair in
            await pair.make(relayed, relayed)
            await pair.connect()
            #expect(await eventually(within: .seconds(20)) { await pair.gatheringDone == [true, true] })
            #expect(await pair.candidates[0].isEmpty)
            #expect(await pair.bothConnected == false)
        }
        withExtendedLifetime(server) {}
    }

    @Test func unreachableServerIsGivenUp() async throws {
        try await withPair { pair in
            var configuration = configuration("turn:127.0.0.1:9?transport=tcp")
            configuration.relayOnly = false
            await pair.make(configuration, configuration)
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            #expect(await eventually(within: .seconds(20)) { await pair.gatheringDone == [true, true] })
        }
    }
}
