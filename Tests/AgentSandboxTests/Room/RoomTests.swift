import AgentCore
import AgentSandbox
import LiveKitProtocol
import LoopCore
import Testing

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
}
