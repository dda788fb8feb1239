import AgentCore
import AudioPipeline
import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentSandbox

/// Lost connections over real sockets: audio goes on, data is neither lost nor doubled.
@Suite(.timeLimit(.minutes(3))) struct ReconnectTests {
    private func pair(
        _ server: SandboxServer, _ endpoints: SandboxServer.Endpoints, dual: Bool
    ) async throws -> (RoomClient, RoomClient) {
        let alice = RoomClient(loop: EventLoop(name: "alice"))
        let bob = RoomClient(loop: EventLoop(name: "bob"))
        await alice.join(endpoints.signal, token: try await server.makeToken(identity: "alice", room: "r"), dual: dual)
        await bob.join(endpoints.signal, token: try await server.makeToken(identity: "bob", room: "r"), dual: dual)
        #expect(await alice.wait { $0.isConnected })
        #expect(await bob.wait { $0.isConnected })
        await alice.startSending()
        await bob.startSending()
        #expect(await bob.wait { $0.totalFrames > 20 })
        #expect(await alice.wait { $0.totalFrames > 20 })
        return (alice, bob)
    }

    private func packet(_ number: UInt8) -> DataPacket {
        var packet = DataPacket()
        var user = UserPacket()
        user.payload = [number]
        packet.value = .user(user)
        return packet
    }

    private func kinds(_ client: RoomClient) async -> [RoomStateMachine.RecoveryKind] {
        await client.events.compactMap { if case .reconnected(let kind, _) = $0 { kind } else { nil } }
    }

    @Test(.inRealTime, arguments: [false, true]) func aCutSignalConnectionIsResumed(dual: Bool) async throws {
        try await withSandbox { server, endpoints in
            let (alice, bob) = try await pair(server, endpoints, dual: dual)
            for round in 0..<3 {
                let frames = await bob.totalFrames
                await server.dropSignal(identity: "alice", room: "r")
                // Sent while signaling is down: the media connection carries it.
                for number in 0..<10 { try await alice.send(packet(UInt8(round * 20 + number))) }
                for number in 10..<20 { try await bob.send(packet(UInt8(round * 20 + number))) }
                let expected = round + 1
                #expect(await alice.wait { $0.reconnects == expected })
                try await Task.sleep(for: .milliseconds(300))
                // Audio went on: 300 ms are 15 frames, and none was missing before.
                #expect(await bob.totalFrames >= frames + 14)
            }
            #expect(await kinds(alice) == [.resume, .resume, .resume])
            #expect(await bob.wait { $0.payloads.count >= 30 })
            #expect(await bob.payloads == (0..<3).flatMap { round in (0..<10).map { [UInt8(round * 20 + $0)] } })
            #expect(await alice.payloads == (0..<3).flatMap { round in (10..<20).map { [UInt8(round * 20 + $0)] } })
            await alice.setAttributes(["mood": "good"])
            #expect(await bob.wait { $0.others["alice"]?.attributes == ["mood": "good"] })
            // Nobody saw anybody leave.
            #expect(await !bob.events.contains { if case .participantLeft = $0 { true } else { false } })
            await alice.leave()
            await bob.leave()
        }
    }

    @Test(.inRealTime, arguments: [false, true]) func aSessionThatIsGoneIsMadeAnew(dual: Bool) async throws {
        try await withSandbox({ $0.resumeWindow = .zero }) { server, endpoints in
            let (alice, bob) = try await pair(server, endpoints, dual: dual)
            let sid = await alice.local?.sid
            await server.dropSignal(identity: "alice", room: "r")
            #expect(await alice.wait(15) { $0.reconnects == 1 })
            #expect(await kinds(alice) == [.full])
            #expect(await alice.local?.sid != sid)
            // Published again, and heard again, both ways.
            let heard = await bob.totalFrames
            #expect(await bob.wait { $0.totalFrames > heard + 20 })
            let back = await alice.totalFrames
            #expect(await alice.wait { $0.totalFrames > back + 20 })
            try await alice.send(packet(1))
            try await bob.send(packet(2))
            #expect(await bob.wait { $0.payloads == [[1]] })
            #expect(await alice.wait { $0.payloads == [[2]] })
            await alice.leave()
            await bob.leave()
        }
    }

    /// A whole spoken session during which signaling is cut, in the middle of the user's speech and of the answer.
    @Test(.inRealTime) func aSpokenSessionSurvives() async throws {
        let turn = AgentScript.default.turns[0]
        try await withSandbox({ $0.agent = .default }) { server, endpoints in
            let path =
                "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/config/demo/hello.wav"
            let session = VoiceSession(configuration: .of(endpoints, room: "r", input: .file(path)))
            async let summary = session.run()
            var texts: [String] = []
            var lost = 0
            for await event in session.events {
                switch event.kind {
                case .inputStarted, .agentAudioStarted: await server.dropSignal(identity: "user", room: "r")
                case .connectionLost: lost += 1
                case .transcript(let transcript) where transcript.isFinal: texts.append(transcript.text)
                default: break
                }
            }
            let result = try await summary
            #expect(lost == 2)
            #expect(result.reconnects == 2)
            #expect(texts == [turn.expect, turn.reply])
            #expect(result.received.concealedSeconds < 1)
        }
    }

    /// The server is stopped, and another starts in its place.
    @Test(.inRealTime) func theServerIsRestarted() async throws {
        try await withSandbox { server, endpoints in
            let alice = RoomClient(loop: EventLoop(name: "alice"))
            await alice.join(endpoints.signal, token: try await server.makeToken(identity: "alice", room: "r"))
            #expect(await alice.wait { $0.isConnected })
            let port = try #require(UInt16(endpoints.signal.split(separator: ":").last ?? ""))
            await server.kill()
            try await Task.sleep(for: .milliseconds(700))
            var configuration = SandboxConfiguration()
            configuration.agent = nil
            configuration.port = port
            let other = SandboxServer(loop: EventLoop(name: "other"), configuration: configuration)
            _ = try await other.start()
            #expect(await alice.wait(20) { $0.reconnects == 1 })
            #expect(await kinds(alice) == [.full])
            await alice.leave()
            await other.stop()
        }
    }
}
