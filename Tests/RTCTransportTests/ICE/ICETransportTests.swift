import Glibc
import LoopCore
import Testing

@testable import RTCTransport

@Suite struct ICETransportTests {
    private static var loopback: ICEConfiguration {
        var configuration = ICEConfiguration()
        configuration.loopbackOnly = true
        return configuration
    }

    private func withPair(_ body: (ICEPair) async throws -> Void) async throws {
        let loop = EventLoop(name: "ice-test")
        let pair = ICEPair(loop: loop)
        try await body(pair)
        await pair.end()
        // The agents are freed on the loop's next turns.
        try await Task.sleep(for: .milliseconds(20))
        loop.stop()
    }

    private func exchange(_ pair: ICEPair) async {
        #expect(await pair.send([1, 2, 3], from: 0))
        #expect(await pair.send([4, 5], from: 1))
        #expect(await eventually { await pair.received[1].contains([1, 2, 3]) })
        #expect(await eventually { await pair.received[0].contains([4, 5]) })
    }

    @Test func connectsOverUDP() async throws {
        try await withPair { pair in
            await pair.make(Self.loopback, Self.loopback)
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            await exchange(pair)
            let selected = try #require(await pair.pair(0))
            #expect(selected.local.transport == "udp")
            #expect(selected.local.address == "127.0.0.1")
            #expect(await pair.states[0].first == .checking)
            #expect(await pair.states[0].contains(.connected))
            #expect(await pair.gatheringDone == [true, true])
            #expect(await pair.sawNestedCallback == false)
            #expect(await pair.candidates[0].allSatisfy { $0.hasPrefix("candidate:") })
        }
    }

    @Test func connectsOverTCP() async throws {
        try await withPair { pair in
            await pair.make(Self.loopback, Self.loopback) { $0.contains(" TCP ") }
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            await exchange(pair)
            #expect(await pair.pair(0)?.local.transport == "tcp")
        }
    }

    @Test func noTCPCandidatesWhenDisabled() async throws {
        try await withPair { pair in
            var configuration = Self.loopback
            configuration.enableTCP = false
            await pair.make(configuration, configuration)
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            #expect(await pair.candidates[0].allSatisfy { !$0.contains(" TCP ") })
        }
    }

    @Test func connectsOnAllInterfaces() async throws {
        try await withPair { pair in
            await pair.make(ICEConfiguration(), ICEConfiguration())
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            await exchange(pair)
            #expect(await pair.candidates[0].contains { $0.contains(" 127.0.0.1 ") })
        }
    }

    @Test(arguments: [true, false]) func resolvesRoleConflicts(both: Bool) async throws {
        try await withPair { pair in
            await pair.make(Self.loopback, Self.loopback, controlling: (both, both))
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            await exchange(pair)
        }
    }

    @Test func restartKeepsDataFlowing() async throws {
        try await withPair { pair in
            await pair.make(Self.loopback, Self.loopback)
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            let before = await (pair.credentials(0), pair.pair(0))
            await pair.restart()
            #expect(await pair.credentials(0) != before.0)
            await exchange(pair)
            await pair.connect()
            #expect(await eventually { await pair.isReconnected(from: before.1) })
            try await Task.sleep(for: .milliseconds(100))
            #expect(await pair.send([9], from: 0))
            #expect(await eventually { await pair.received[1].contains([9]) })
            #expect(await pair.states[0].contains(.failed) == false)
        }
    }

    @Test func wrongPasswordDoesNotConnect() async throws {
        try await withPair { pair in
            var configuration = Self.loopback
            configuration.connectTimeout = .milliseconds(600)
            await pair.make(configuration, configuration)
            await pair.inject(remote: ("abcd", "0123456789012345678901"), to: 0)
            await pair.connect()
            #expect(await eventually { await pair.state(0) == .failed })
            #expect(await pair.bothConnected == false)
            #expect(await pair.send([1], from: 0) == false)
        }
    }

    @Test func failsWithoutAnyCandidate() async throws {
        try await withPair { pair in
            var configuration = Self.loopback
            configuration.connectTimeout = .milliseconds(300)
            await pair.make(configuration, configuration) { _ in false }
            await pair.connect()
            #expect(await eventually { await pair.state(0) == .failed })
        }
    }

    @Test func unresolvableServersDoNotHoldUp() async throws {
        try await withPair { pair in
            var configuration = Self.loopback
            configuration.servers = [ICEServer(urls: ["stun:does-not-exist.invalid:3478", "nonsense", "turn:"])]
            configuration.resolveTimeout = .milliseconds(300)
            await pair.make(configuration, Self.loopback)
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
        }
    }

    @Test func closeFromInsideACallback() async throws {
        try await withPair { pair in
            await pair.make(Self.loopback, Self.loopback)
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            await pair.closeOnReceive(1)
            #expect(await pair.send([1], from: 0))
            #expect(await eventually { await pair.state(1) == .closed })
            await pair.close(0)
            await pair.close(0)
            #expect(await pair.send([1], from: 0) == false)
        }
    }

    @Test func garbageCandidatesAreHarmless() async throws {
        try await withPair { pair in
            await pair.make(Self.loopback, Self.loopback)
            var generator = SeededGenerator(seed: 7)
            let good = "candidate:1 1 UDP 2122252543 192.0.2.1 50000 typ host raddr 10.0.0.1 rport 9 tcptype passive"
            for _ in 0..<300 {
                var bytes = Array(good.utf8)
                for _ in 0..<Int.random(in: 1...6, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
                await pair.addRemote(String(decoding: bytes, as: UTF8.self), to: 0)
            }
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
        }
    }

    /// What anyone may send to an open port: noise, and STUN messages that are wrong inside.
    @Test func garbageOnTheWireIsHarmless() async throws {
        try await withPair { pair in
            await pair.make(Self.loopback, Self.loopback)
            await pair.connect()
            #expect(await eventually { await pair.bothConnected })
            let port = try #require(await pair.pair(0)?.local.port)
            let stranger = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
            defer { Glibc.close(stranger) }
            var generator = SeededGenerator(seed: 21)
            for round in 0..<2000 {
                var bytes = generator.bytes(Int.random(in: 1...200, using: &generator))
                if round % 2 == 0, bytes.count > 24 {
                    // A binding request or response with the magic cookie and a fitting length.
                    let length = (bytes.count - 20) / 4 * 4
                    bytes.removeLast(bytes.count - 20 - length)
                    bytes.replaceSubrange(
                        0..<8, with: [UInt8(round / 2 % 2), 1, 0, UInt8(length), 0x21, 0x12, 0xa4, 0x42])
                    bytes[20] = 0
                    bytes[21] = [0x06, 0x08, 0x20, 0x24, 0x25, 0x29].randomElement(using: &generator) ?? 0x06
                }
                Self.send(bytes, from: stranger, to: port)
            }
            await exchange(pair)
            #expect(await pair.state(0).isConnected)
            // Nothing of a stranger is taken for the peer's.
            #expect(await pair.received[0].allSatisfy { $0 == [4, 5] })
        }
    }

    private static func send(_ bytes: [UInt8], from descriptor: Int32, to port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
