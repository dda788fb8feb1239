import AgentCore
import AudioPipeline
import LiveKitProtocol
import Testing

@testable import AgentSandbox

/// Whole turns with the scripted agent, over sockets, in real time.
@Suite struct ScriptedAgentTests {
    private func join(_ server: SandboxServer, _ url: String, publishes: Bool = true) async throws -> TestUser {
        let user = TestUser()
        let token = try await server.makeToken(identity: "user", room: "room")
        try await user.join(url, token: token, publishes: publishes)
        return user
    }

    private func state(of user: TestUser) async -> AgentState? {
        await user.others.values.first { $0.isAgent }?.agentState
    }

    /// The states that the agent went through, as the user saw them.
    private func states(_ user: TestUser) async -> [String] {
        var states: [String] = []
        for case .participantUpdated(let participant, _) in await user.events where participant.isAgent {
            guard let state = participant.agentState?.description, state != states.last, state != "initializing" else {
                continue
            }
            states.append(state)
        }
        return states
    }

    @Test(.inRealTime) func aWholeTurn() async throws {
        try await withSandbox({ $0.agent = .default }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await state(of: user) == .listening })
            let agent = try #require(await user.others.values.first { $0.isAgent })
            #expect(agent.kind == .agent)
            #expect(agent.tracks.map(\.name) == ["roomio_audio"])
            #expect(agent.tracks.map(\.source) == [.microphone])

            let question = AgentScript.default.turns[0].expect
            let answer = AgentScript.default.turns[0].reply
            let speech = try await SpeechSynthesizer.shared.speak(question, voice: AgentVoice())
            await user.speak(speech.samples)
            #expect(await eventually(20) { await user.transcripts.contains { $0.text == answer && $0.isFinal } })
            #expect(await eventually { await state(of: user) == .listening })

            let transcripts = await user.transcripts
            let mine = transcripts.filter { $0.sender == "user" }
            #expect(mine.last?.text == question)
            #expect(mine.last?.isFinal == true)
            #expect(mine.count >= 3, "interim results come while the user speaks")
            #expect(mine.dropLast().allSatisfy { !$0.isFinal && question.hasPrefix($0.text) })
            #expect(Set(mine.map(\.segment)).count == 1)
            let theirs = transcripts.filter { $0.sender == agent.identity }
            #expect(theirs.count == 1)
            #expect(theirs.first?.chunks == 13)
            #expect(await states(user) == ["listening", "thinking", "speaking", "listening"])

            // The answer is heard whole: about as long as it was spoken, and as loud.
            let spoken = try await SpeechSynthesizer.shared.speak(answer, voice: AgentVoice())
            let heard = await user.loud
            #expect(abs(heard.count - spoken.samples.count) < 48_000)
            #expect(AudioLevel.decibels(heard) > -35)

            let report = try #require(await server.agentReport(room: "room"))
            #expect(report.user == "user")
            #expect(report.replies == [answer])
            #expect(report.speech.count == 1)
            let length = report.speech.first.map { $0.end - $0.start } ?? 0
            #expect(abs(length - speech.samples.count) < 24_000)
            #expect(report.peakLevel > -30)
            #expect(report.concealedFrames < 5)

            await user.leave()
            #expect(await eventually { await server.roomNames.isEmpty })
        }
    }

    @Test func legacyPacketsComeBesideTheStreams() async throws {
        try await withSandbox({ $0.agent = .default }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.others.values.contains { $0.isAgent && $0.isActive } })
            try await user.sendText("Thank you, goodbye.", topic: "lk.chat")
            #expect(await eventually { await user.legacySegments.last?.final == true })
            let segments = await user.legacySegments
            #expect(segments.last?.text == "You are welcome. Goodbye!")
        }
    }

    @Test(.inRealTime) func greets() async throws {
        var script = AgentScript.default
        script.greeting = "Welcome to the sandbox."
        try await withSandbox({ $0.agent = script }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.transcripts.contains { $0.text == script.greeting && $0.isFinal } })
            #expect(await user.loud.count > 24_000)
        }
    }

    @Test(.inRealTime) func chatIsAnsweredInTheOrderOfTheScriptOrOutOfIt() async throws {
        try await withSandbox({ $0.agent = .default }) { server, endpoints in
            let user = try await join(server, endpoints.signal, publishes: false)
            #expect(await eventually { await user.others.values.contains { $0.isAgent && $0.isActive } })
            #expect(await eventually { await user.isConnected })
            try await user.sendText("hello what are your opening hours today", topic: "lk.chat")
            let answer = AgentScript.default.turns[0].reply
            #expect(await eventually(15) { await user.transcripts.contains { $0.text == answer && $0.isFinal } })
            try await user.sendText("Something else", topic: "lk.chat")
            let fallback = AgentScript.default.fallback
            #expect(await eventually(15) { await user.transcripts.contains { $0.text == fallback && $0.isFinal } })
            #expect(await server.agentReport(room: "room")?.chatMessages.count == 2)
        }
    }

    @Test(.inRealTime) func theUserInterrupts() async throws {
        var script = AgentScript.default
        script.greeting =
            "This is a very long greeting that goes on and on, and that nobody would listen to the end of."
        try await withSandbox({ $0.agent = script }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await state(of: user) == .speaking })
            #expect(await eventually { await user.transcripts.contains { $0.chunks > 3 } })
            await user.speak(tone: 300, seconds: 1)
            #expect(await eventually { await user.transcripts.first?.isFinal == true })
            let cut = await user.transcripts.first?.text ?? ""
            #expect(script.greeting.hasPrefix(cut))
            #expect(cut.count < script.greeting.count)
            #expect(await server.agentReport(room: "room")?.interruptions == 1)
        }
    }

    @Test(.inRealTime) func echoes() async throws {
        var script = AgentScript.default
        script.echoes = true
        try await withSandbox({ $0.agent = script }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await state(of: user) == .listening })
            #expect(await eventually { await user.isLive })
            await user.speak(tone: 800, seconds: 1)
            #expect(await eventually { await user.loud.count > 40_000 })
            #expect(abs(await frequency(of: user.loud.dropFirst(9600).prefix(24_000)) - 800) < 10)
        }
    }

    @Test func servesRPC() async throws {
        try await withSandbox({ $0.agent = .default }) { server, endpoints in
            let user = try await join(server, endpoints.signal, publishes: false)
            #expect(await eventually { await user.others.values.contains { $0.isAgent && $0.isActive } })
            #expect(await eventually { await user.isConnected })
            var request = RpcRequest()
            request.id = "r1"
            request.method = "echo"
            request.payload = "hello"
            request.version = 1
            var packet = DataPacket()
            packet.value = .rpcRequest(request)
            packet.destinationIdentities = ["agent-sandbox"]
            try await user.send(packet)
            #expect(
                await eventually {
                    await user.packets.contains {
                        if case .rpcResponse(let response) = $0.value {
                            response.value == .payload("hello")
                        } else {
                            false
                        }
                    }
                })
        }
    }

    @Test func takesThePreConnectBuffer() async throws {
        try await withSandbox({ $0.agent = .default }) { server, endpoints in
            let user = try await join(server, endpoints.signal, publishes: false)
            #expect(await eventually { await user.others.values.contains { $0.isAgent && $0.isActive } })
            var writer = DataStreamWriter(streamID: "buffer", destinations: ["agent-sandbox"])
            var packets = [
                writer.byteHeader(
                    topic: "lk.agent.pre-connect-audio-buffer", name: "audio",
                    attributes: ["trackId": "TR_mic", "sampleRate": "24000", "channels": "1"], timestamp: 0)
            ]
            packets += writer.write([UInt8](repeating: 0, count: 48_000))
            packets.append(writer.trailer())
            for packet in packets { try await user.send(packet) }
            let expected = AgentReport.PreConnectBuffer(
                trackSid: "TR_mic", sampleRate: 24_000, channels: 1, bytes: 48_000,
                samples: [Int16](repeating: 0, count: 24_000))
            #expect(
                await eventually { await server.agentReport(room: "room")?.preConnectBuffers == [expected] })
        }
    }

    @Test func comesLateOrNotAtAll() async throws {
        try await withSandbox({
            $0.agent = .default
            $0.faults.agentDelay = .milliseconds(500)
        }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.isConnected })
            #expect(await user.others.isEmpty)
            #expect(await eventually { await state(of: user) == .listening })
        }
        try await withSandbox({
            $0.agent = .default
            $0.faults.withholdsAgent = true
        }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.isConnected })
            try await Task.sleep(for: .milliseconds(500))
            #expect(await user.others.isEmpty)
        }
    }

    @Test func comesAgainForTheNextUser() async throws {
        try await withSandbox({ $0.agent = .default }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await state(of: user) == .listening })
            // The same identity: the earlier has to go, and its agent goes with it.
            let again = try await join(server, endpoints.signal)
            #expect(await eventually { await user.cause == .server(.duplicateIdentity) })
            #expect(await eventually { await state(of: again) == .listening })
            await again.leave()
            let third = try await join(server, endpoints.signal)
            #expect(await eventually { await state(of: third) == .listening })
        }
    }

    @Test func doesNotThrowOutAUserOfItsName() async throws {
        try await withSandbox({ $0.agent = .default }) { server, endpoints in
            let user = TestUser()
            try await user.join(
                endpoints.signal, token: server.makeToken(identity: "agent-sandbox", room: "room"))
            #expect(await eventually { await state(of: user) == .listening })
            #expect(await user.cause == nil)
        }
    }

    @Test func aNamedAgentComesOnlyWhenAskedFor() async throws {
        var script = AgentScript.default
        script.agentName = "helper"
        try await withSandbox({ $0.agent = script }) { server, endpoints in
            let user = try await join(server, endpoints.signal)
            #expect(await eventually { await user.isConnected })
            try await Task.sleep(for: .milliseconds(300))
            #expect(await user.others.isEmpty)
        }
    }
}
