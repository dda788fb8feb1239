import AgentCore
import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentSandbox

/// Rooms of AgentCore against the sandbox's server, over real sockets.
@Suite struct RoomTests {
    private func withServer(
        _ configure: (inout SandboxConfiguration) -> Void = { _ in },
        _ body: (SandboxServer, SandboxServer.Endpoints, EventLoop) async throws -> Void
    ) async throws {
        try await withSandbox(configure) { server, endpoints in try await body(server, endpoints, server.loop) }
    }

    @Test(.inRealTime, arguments: [false, true]) func twoRoomsHearAndReadEachOther(dual: Bool) async throws {
        try await withServer { server, endpoints, loop in
            let alice = RoomClient(loop: loop)
            let bob = RoomClient(loop: loop)
            await alice.join(
                endpoints.signal, token: try await server.makeToken(identity: "alice", room: "r"), dual: dual)
            #expect(await alice.wait { $0.isConnected })
            await bob.join(endpoints.signal, token: try await server.makeToken(identity: "bob", room: "r"), dual: dual)
            #expect(await bob.wait { $0.isConnected })
            await alice.startSending()
            await bob.startSending()
            #expect(await bob.wait { $0.totalFrames > 20 })
            #expect(await alice.wait { $0.totalFrames > 20 })

            var packet = DataPacket()
            var user = UserPacket()
            user.payload = [1, 2, 3]
            packet.value = .user(user)
            try await alice.send(packet)
            #expect(await bob.wait { $0.payloads == [[1, 2, 3]] })
            try await bob.send(packet, reliable: false)
            #expect(await alice.wait { $0.payloads == [[1, 2, 3]] })

            await alice.setAttributes(["mood": "good"])
            #expect(await bob.wait { $0.others["alice"]?.attributes == ["mood": "good"] })

            await alice.leave()
            #expect(await bob.wait { $0.others.isEmpty })
            #expect(await alice.wait(1) { $0.cause == .clientInitiated })
            await bob.leave()
        }
    }

    /// The token of a participant that the test describes, for room `r`.
    private func token(_ identity: String, _ change: (inout JoinGrants) -> Void) throws -> String {
        var grants = JoinGrants()
        grants.identity = identity
        grants.room = "r"
        grants.roomJoin = true
        change(&grants)
        let configuration = SandboxConfiguration()
        let authority = TokenAuthority(
            key: configuration.apiKey, secret: configuration.apiSecret, lifetime: .seconds(600))
        return try authority.mint(grants)
    }

    /// With two connections the publishing one is not there until something is to be sent; data is.
    @Test(arguments: [false, true]) func whoPublishesNothingSendsDataAllTheSame(dual: Bool) async throws {
        try await withServer { server, endpoints, loop in
            let bob = RoomClient(loop: loop)
            await bob.join(endpoints.signal, token: try await server.makeToken(identity: "bob", room: "r"))
            #expect(await bob.wait { $0.isConnected && $0.others.isEmpty })
            let alice = RoomClient(loop: loop)
            let token = try token("alice") { $0.canPublish = false }
            await alice.join(endpoints.signal, token: token, dual: dual, publish: false)
            #expect(await alice.wait { $0.isConnected })
            var user = UserPacket()
            user.payload = [7]
            var packet = DataPacket()
            packet.value = .user(user)
            try await alice.send(packet)
            #expect(await bob.wait { $0.payloads == [[7]] })
            #expect(await alice.cause == nil)
            await alice.leave()
            await bob.leave()
        }
    }

    @Test func requestsAreGrantedAndRefused() async throws {
        try await withServer { _, endpoints, loop in
            let allowed = RoomClient(loop: loop)
            // Asked for before the room is joined.
            await allowed.join(
                endpoints.signal, token: try token("allowed") { $0.canUpdateOwnMetadata = true }, publish: false)
            await allowed.rename("Alice", metadata: "{}")
            #expect(await allowed.wait { $0.answers == ["name: done", "metadata: done"] })
            #expect(await allowed.wait { $0.local?.name == "Alice" && $0.local?.metadata == "{}" })
            let refused = RoomClient(loop: loop)
            await refused.join(endpoints.signal, token: try token("refused") { _ in }, publish: false)
            await refused.rename("Eve", metadata: "{}")
            #expect(await refused.wait { $0.answers.count == 2 })
            #expect(await refused.answers.allSatisfy { $0.contains("does not have permission") })
            await allowed.leave()
            await refused.leave()
            await refused.rename("Mallory", metadata: "")
            #expect(await refused.wait { $0.answers.count == 4 })
            #expect(await refused.answers.last?.contains("the session ended") == true)
        }
    }

    @Test func aTrackThatMayNotBePublishedFailsAndTheSessionGoesOn() async throws {
        try await withServer { _, endpoints, loop in
            let alice = RoomClient(loop: loop)
            await alice.join(endpoints.signal, token: try token("alice") { $0.canPublish = false })
            #expect(await alice.wait { $0.isConnected })
            #expect(
                await alice.wait { $0.events.contains { if case .publishFailed = $0 { true } else { false } } })
            #expect(await alice.cause == nil)
            await alice.leave()
        }
    }

    /// The server hears of it, whatever step the session is at.
    @Test(arguments: [0, 5, 20, 60]) func leavingWhileConnectingIsQuickAndClean(milliseconds: Int) async throws {
        try await withServer { server, endpoints, loop in
            let alice = RoomClient(loop: loop)
            await alice.join(endpoints.signal, token: try await server.makeToken(identity: "alice", room: "r"))
            try await Task.sleep(for: .milliseconds(milliseconds))
            await alice.leave()
            #expect(await alice.wait(1) { $0.cause == .clientInitiated })
            #expect(await alice.events.last == .disconnected(.clientInitiated))
            #expect(await eventually { await server.roomNames.isEmpty })
        }
    }
}
