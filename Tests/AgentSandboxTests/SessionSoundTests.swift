import AgentCore
import AudioPipeline
import Foundation
import LiveKitProtocol
import LoopCore
import TestDevices
import Testing

@testable import AgentSandbox

/// What a session sends and plays, heard at the other side: codec options, muting, recordings, manual rendering.
@Suite(.timeLimit(.minutes(3))) struct SessionSoundTests {
    /// Runs a session, does something while it runs, ends it, and returns what it saw.
    private func run(
        _ configuration: SessionConfiguration, _ body: @escaping @Sendable (VoiceSession) async throws -> Void
    ) async throws -> (events: [SessionEvent], summary: SessionSummary?) {
        let session = VoiceSession(configuration: configuration)
        async let summary = try? session.run()
        async let work: Void = {
            try await body(session)
            await session.stop()
        }()
        var events: [SessionEvent] = []
        for await event in session.events { events.append(event) }
        try await work
        return (events, await summary)
    }

    // MARK: Opus

    @Test(.inRealTime, arguments: OpusEncoder.FrameDuration.allCases, [false, true])
    func everyFrameLengthIsHeard(_ duration: OpusEncoder.FrameDuration, _ isRedundant: Bool) async throws {
        try await withSandbox { server, endpoints in
            let listener = TestUser()
            try await listener.join(
                endpoints.signal, token: try await server.makeToken(identity: "agent", room: "room", kind: .agent))
            var configuration = SessionConfiguration.of(endpoints, input: .tone(frequency: 440, level: 12))
            configuration.encoder.frameDuration = duration
            configuration.redundantAudio = isRedundant
            configuration.encoder.channels = isRedundant ? 1 : 2
            let (_, summary) = try await run(configuration) { _ in try await Task.sleep(for: .seconds(2.5)) }
            let heard = await listener.loud
            #expect(heard.count > 48_000)
            #expect(abs(frequency(of: heard.dropFirst(9_600)) - 440) < 1)
            let packets = Double(summary?.sent.packets ?? 0)
            let expected = (summary?.sent.audioSeconds ?? 0) * 1000 / Double(duration.rawValue)
            #expect(abs(packets - expected) < 2)
            await listener.leave()
        }
    }

    @Test(.inRealTime) func discontinuousTransmissionSendsLittleInSilence() async throws {
        try await withSandbox { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints)
            var configuration = SessionConfiguration.of(endpoints, input: .silence)
            configuration.encoder.dtx = true
            let (_, summary) = try await run(configuration) { _ in try await Task.sleep(for: .seconds(3)) }
            let packets = try #require(summary?.sent.packets)
            #expect((5...60).contains(packets), "\(packets) packets in 3 s")
            await agent.leave()
        }
    }

    // MARK: Muting

    @Test(.inRealTime) func mutingFadesAndIsToldToTheRoom() async throws {
        try await withSandbox { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints)
            let configuration = SessionConfiguration.of(endpoints, input: .tone(frequency: 300, level: 10))
            let (events, _) = try await run(configuration) { session in
                try await Task.sleep(for: .seconds(1.5))
                await session.setMuted(true)
                #expect(await session.isMuted)
                try await Task.sleep(for: .seconds(0.5))
                #expect(await agent.mutes == [true])
                await session.setMuted(false)
                try await Task.sleep(for: .seconds(1))
            }
            #expect(await agent.mutes == [true, false])
            let mutes = events.compactMap {
                if case .microphoneMuted(let muted, .user) = $0.kind { muted } else { nil }
            }
            #expect(mutes == [true, false])
            let track = try await agent.decoded()
            let quiet = stride(from: 0, to: track.count - 960, by: 960).filter {
                AudioLevel.decibels(track[$0..<($0 + 960)]) < -60
            }
            #expect((15...35).contains(quiet.count), "about half a second is silent: \(quiet.count) frames")
            #expect(Clicks.find(in: track) == [])
            await agent.leave()
        }
    }

    @Test(.inRealTime) func theServerMutes() async throws {
        try await withSandbox { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints)
            let configuration = SessionConfiguration.of(endpoints, input: .tone(frequency: 300, level: 10))
            let (events, _) = try await run(configuration) { session in
                try await Task.sleep(for: .seconds(1))
                await server.setMuted(true, identity: "user", room: "room")
                try await Task.sleep(for: .seconds(0.5))
                #expect(await session.isMuted)
                let frames = await agent.frameCount
                try await Task.sleep(for: .seconds(0.4))
                #expect(await agent.frameCount == frames, "nothing is sent any more")
            }
            #expect(events.contains { $0.kind == .microphoneMuted(true, by: .server) })
            await agent.leave()
        }
    }

    @Test(.inRealTime) func theAgentMutesByRemoteCall() async throws {
        try await withSandbox { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints)
            let configuration = SessionConfiguration.of(endpoints, input: .tone(frequency: 300, level: 10))
            let (events, _) = try await run(configuration) { session in
                try await Task.sleep(for: .seconds(1))
                #expect(await agent.call("user", VoiceSession.muteMethod, "true") == .success("true"))
                #expect(await session.isMuted)
                #expect(await agent.call("user", VoiceSession.muteMethod, "false") == .success("false"))
                #expect(await !session.isMuted)
                guard case .failure(let error) = await agent.call("user", VoiceSession.muteMethod, "perhaps") else {
                    Issue.record("it took anything")
                    return
                }
                #expect(error.code == 1500)
                #expect(await agent.call("user", "nothing", "") == .failure(.unsupportedMethod))
            }
            let mutes = events.compactMap {
                if case .microphoneMuted(let muted, .agent) = $0.kind { muted } else { nil }
            }
            #expect(mutes == [true, false])
            await agent.leave()
        }
    }

    // MARK: Manual rendering

    @Test(.inRealTime) func aProgramPushesAndPullsItsOwnSound() async throws {
        try await withSandbox { server, endpoints in
            let user = TestUser()
            try await user.join(
                endpoints.signal, token: try await server.makeToken(identity: "agent", room: "room", kind: .agent))
            let microphone = ManualAudio()
            let speaker = ManualAudio(bound: .seconds(10))
            var configuration = SessionConfiguration.of(endpoints, input: .manual(microphone))
            configuration.output = .manual(speaker)
            configuration.preConnectBuffer = nil
            let (_, summary) = try await run(configuration) { _ in
                #expect(await eventually { await user.isLive })
                await user.speak(tone: 500, seconds: 3)
                let tone = (0..<480).map { Int16(9_000 * sin(2 * .pi * 700 * Double($0) / 48_000)) }
                // 10 ms of 700 Hz are whole periods.
                for _ in 0..<200 {
                    microphone.push(tone)
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            #expect(summary != nil)
            #expect(abs(frequency(of: await user.loud) - 700) < 5)
            let heard = speaker.pull(480_000)
            #expect(heard.count > 48_000)
            let loud = heard.drop { abs(Int($0)) < 300 }
            #expect(abs(frequency(of: loud) - 500) < 5)
            await user.leave()
        }
    }

    // MARK: Clicks

    /// The agent's tone through a bad network: at its start and end, at losses and where the sound is stretched, nothing
    /// clicks.
    @Test(.inRealTime, arguments: [0.0, 0.05, 0.2]) func nothingClicks(_ loss: Double) async throws {
        try await withSandbox({
            $0.faults.media.loss = loss
            $0.faults.media.jitter = .milliseconds(loss > 0 ? 30 : 0)
        }) { server, endpoints in
            let user = TestUser()
            try await user.join(
                endpoints.signal, token: try await server.makeToken(identity: "agent", room: "room", kind: .agent))
            let speaker = ManualAudio(bound: .seconds(20))
            var configuration = SessionConfiguration.of(endpoints, input: .silence)
            configuration.output = .manual(speaker)
            let (_, summary) = try await run(configuration) { _ in
                #expect(await eventually { await user.isHeard })
                await user.speak(tone: 300, seconds: 3)
                try await Task.sleep(for: .seconds(4))
            }
            let heard = speaker.pull(20 * 48_000)
            #expect(heard.count { abs(Int($0)) > 2_000 } > 96_000)
            let clicks = Clicks.find(in: heard)
            #expect(clicks.isEmpty, "\(clicks.count) clicks, first at \(clicks.first ?? 0)")
            if loss > 0 { #expect((summary?.received.recoveredByRED ?? 0) > 0) }
            await user.leave()
        }
    }

    // MARK: Recordings

    @Test(.inRealTime) func bothSidesAreRecordedOnOneTimeline() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rec-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let turn = AgentScript.default.turns[0]
        let words = try await SpeechSynthesizer.shared.speak(turn.expect, voice: AgentVoice()).samples
        let recording = folder + "-input.wav"
        let writer = try WAVWriter(path: recording)
        try writer.write(words)
        try writer.close()
        defer { try? FileManager.default.removeItem(atPath: recording) }
        try await withSandbox({ $0.agent = .default }) { _, endpoints in
            var configuration = SessionConfiguration.of(endpoints, input: .file(recording))
            configuration.recordDirectory = folder
            let session = VoiceSession(configuration: configuration)
            async let summary = session.run()
            var events: [SessionEvent] = []
            for await event in session.events { events.append(event) }
            _ = try await summary

            func samples(_ name: String) throws -> [Int16] {
                try AudioFileReader(path: folder + "/" + name).read(frames: 60 * 48_000)
            }
            let user = try samples("user.wav")
            let agent = try samples("agent.wav")
            let mix = try samples("mix.wav")
            #expect(user.count == agent.count)
            #expect(user.count == mix.count)
            let isSum = (0..<user.count).allSatisfy { mix[$0] == Int16(clamping: Int32(user[$0]) + Int32(agent[$0])) }
            #expect(isSum)

            // The events have the same clock: the recording begins, the user speaks, the agent is heard.
            let began = try #require(events.first { if case .recordingStarted = $0.kind { true } else { false } }).time
            func at(_ kind: SessionEvent.Kind) throws -> Int {
                let event = try #require(events.first { $0.kind == kind })
                return AudioFormat.frames(in: event.time - began)
            }
            let spoken = try #require(user.lastIndex { abs(Int($0)) > 1_000 })
            #expect(abs(spoken - (try at(.userSpeechEnded))) < 9_600)
            let answered = try #require(agent.firstIndex { abs(Int($0)) > 300 })
            #expect(abs(answered - (try at(.agentAudioStarted))) < 9_600)

            // Every event stands in the file, in order.
            let lines = try String(contentsOfFile: folder + "/events.jsonl", encoding: .utf8).split(separator: "\n")
            let start = try #require(events.first).time
            #expect(lines.count == events.count)
            #expect(lines.first == "{\"type\":\"started\",\"t\":0.0,\"schema\":1}" || start == events[0].time)
            #expect(lines.last?.contains("\"type\":\"ended\"") == true)
        }
    }

    @Test(.inRealTime) func aFullDiskDoesNotEndTheSession() async throws {
        // A file system of its own, and a small one.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("full-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["user.wav", "agent.wav", "mix.wav", "events.jsonl"] {
            try FileManager.default.createSymbolicLink(atPath: folder + "/" + name, withDestinationPath: "/dev/full")
        }
        try await withSandbox { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints)
            var configuration = SessionConfiguration.of(endpoints, input: .silence)
            configuration.recordDirectory = folder
            let (events, summary) = try await run(configuration) { _ in try await Task.sleep(for: .seconds(1)) }
            let error = events.compactMap { if case .ended(_, let error) = $0.kind { error } else { nil } }.first
            let warnings = events.compactMap { if case .warning(let text) = $0.kind { text } else { nil } }
            if summary == nil {
                // The header itself does not fit: refused before anything is dialled.
                #expect(error?.category == .audio)
                #expect(error?.description.contains("disk is full") == true)
            } else {
                #expect(warnings.contains { $0.contains("disk is full") })
            }
            await agent.leave()
        }
    }
}
