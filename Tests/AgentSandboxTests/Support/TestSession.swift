import AgentCore

@testable import AgentSandbox

extension SessionConfiguration {
    /// A session of `user` with a sandbox, over loopback.
    static func of(
        _ endpoints: SandboxServer.Endpoints, room name: String? = "room", input: Input
    ) -> SessionConfiguration {
        var room = AgentCore.Room.Options()
        room.loopbackOnly = true
        var request = TokenRequest()
        request.roomName = name
        request.participantIdentity = "user"
        return SessionConfiguration(
            tokenSource: .sandbox(id: "test", baseURL: endpoints.http), tokenRequest: request, room: room, input: input)
    }
}

extension ListeningAgent {
    /// An agent that has begun to join `room`.
    static func join(
        _ server: SandboxServer, _ endpoints: SandboxServer.Endpoints, identity: String = "agent",
        autoSubscribe: Bool = true
    ) async throws -> ListeningAgent {
        let agent = ListeningAgent()
        let token = try await server.makeToken(identity: identity, room: "room", kind: .agent)
        await agent.join(endpoints.signal, token: token, autoSubscribe: autoSubscribe)
        return agent
    }
}
