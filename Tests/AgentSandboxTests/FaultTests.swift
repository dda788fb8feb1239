import AgentCore
import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentSandbox

/// Each injected fault, as a client sees it.
@Suite struct FaultTests {
    private func join(
        _ server: SandboxServer, _ url: String, identity: String = "user", dual: Bool = false
    ) async throws -> TestUser {
        let user = TestUser()
        let token = try await server.makeToken(identity: identity, room: "room")
        try await user.join(url, token: token, dual: dual)
        return user
    }

    @Test(arguments: SandboxFaults.JoinStep.allCases, [false, true])
    func theConnectionIsClosedAtEachStepOfJoining(step: SandboxFaults.JoinStep, isAbrupt: Bool) async throws {
        try await withSandbox({
            $0.faults.closesAt = step
            $0.faults.closesAbruptly = isAbrupt
        }) { server, endpoints in
            for dual in [false, true] {
                let user = try await join(server, endpoints.signal, dual: dual)
                #expect(await eventually { await user.cause != nil })
                guard case .signalLost? = await user.cause else {
                    Issue.record("\(step), dual \(dual): \(String(describing: await user.cause))")
                    continue
                }
            }
            #expect(await eventually { await server.roomNames.isEmpty })
        }
    }

    @Test func anOlderServerIsJoinedWithTwoConnections() async throws {
        try await withSandbox({ $0.faults.refusesSinglePeerConnection = true }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.isConnected })
            #expect(await server.participants(in: "room").map(\.identity) == ["user"])
        }
    }

    @Test(arguments: [401, 403, 404, 429, 500, 503])
    func connectionsAreRefused(status: Int) async throws {
        try await withSandbox({ $0.faults.signalStatus = status }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.cause != nil })
        }
    }

    /// A server that answers no ping is taken for lost, and the session resumed.
    @Test func withoutPongsTheConnectionIsResumed() async throws {
        try await withSandbox({
            $0.faults.dropsPongs = true
            $0.pingInterval = 1
            $0.pingTimeout = 1
        }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.isConnected })
            #expect(
                await eventually {
                    await user.has { if case .connectionLost(.signalLost) = $0 { true } else { false } }
                })
            #expect(await eventually { await user.has { if case .reconnected = $0 { true } else { false } } })
        }
    }

    @Test func aLateJoinResponseIsWaitedFor() async throws {
        try await withSandbox({ $0.faults.joinDelay = .milliseconds(400) }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            try await Task.sleep(for: .milliseconds(200))
            #expect(await !user.isConnected)
            #expect(await eventually { await user.isConnected })
        }
    }

    @Test func malformedAndUnknownMessagesDoNoHarm() async throws {
        try await withSandbox({
            $0.faults.sendsMalformedFrame = true
            $0.faults.sendsUnknownMessage = true
        }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.isConnected })
            #expect(await user.has { if case .warning = $0 { true } else { false } })
        }
    }

    @Test(.inRealTime) func lossAndJitterAreHeardThrough() async throws {
        try await withSandbox({
            $0.faults.media.loss = 0.1
            $0.faults.media.delay = .milliseconds(30)
            $0.faults.media.jitter = .milliseconds(40)
        }) { server, endpoints in
            let alice = try await join(server, endpoints.signal, identity: "alice")
            let bob = try await join(server, endpoints.signal, identity: "bob")
            #expect(await eventually { await all(alice.isHeard, alice.isLive, bob.isConnected) })
            await alice.speak(tone: 500, seconds: 2)
            #expect(await eventually { await bob.loud.count > 85_000 })
            #expect(abs(await frequency(of: bob.loud.suffix(40_000)) - 500) < 15)
            let lost = await bob.statistics?.received.values.map(\.lost).reduce(0, +) ?? 0
            #expect(lost > 0)
        }
    }

    @Test func theDelayLineLosesItsShareAndKeepsTheSame() async {
        let first = await delivered(loss: 0.25, count: 4000, seed: 7)
        #expect((900...1100).contains(4000 - first.count))
        #expect(await delivered(loss: 0.25, count: 4000, seed: 7) == first)
        #expect(await delivered(loss: 0.25, count: 4000, seed: 8) != first)
        #expect(await delivered(loss: 0, count: 10, seed: 1) == Array(0..<10))
    }

    private func delivered(loss: Double, count: Int, seed: UInt64) async -> [Int] {
        let loop = EventLoop(name: "delay-line")
        return await withCheckedContinuation { continuation in
            loop.execute {
                var result: [Int] = []
                let line = PacketDelayLine<Int>(loop: loop, seed: seed) { result.append($0) }
                var impairment = MediaImpairment()
                impairment.loss = loss
                for number in 0..<count { line.send(number, impairment: impairment, now: .now) }
                continuation.resume(returning: result)
                loop.stop()
            }
        }
    }
}
