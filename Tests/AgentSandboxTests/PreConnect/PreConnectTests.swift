import AgentCore
import AudioPipeline
import Foundation
import LoopCore
import TestDevices
import Testing

@testable import AgentSandbox

/// What is said from the start of the process reaches the agent: a recording is played into the capture device before
/// anything is connected, and what the agent got as a stream and on the track is laid beside it, sample by sample.
@Suite(.timeLimit(.minutes(3))) struct PreConnectTests {
    /// 14 s of speech without a pause long enough to be mistaken for the silence before the track.
    private static let speech = Task {
        let sentence = "The quick brown fox jumps over the lazy dog and runs along the river to the next town. "
        return try await SpeechSynthesizer.shared.speak(String(repeating: sentence, count: 4), voice: AgentVoice())
            .samples
    }

    private struct Outcome {
        var events: [SessionEvent.Kind]
        var error: SessionError?

        var sent: (frames: Int, dropped: Int)? {
            for case .preConnectAudioSent(let frames, let dropped) in events { return (frames, dropped) }
            return nil
        }

        var warnings: [String] { events.compactMap { if case .warning(let text) = $0 { text } else { nil } } }
    }

    /// Speaks for `seconds`, then ends the session.
    private func session(
        _ endpoints: SandboxServer.Endpoints, seconds: Double,
        configure: (inout SessionConfiguration) -> Void = { _ in }
    ) async throws -> Outcome {
        let device = try CaptureDevice(name: try TestPCMs.speech(try await Self.speech.value))
        var configuration = SessionConfiguration.of(endpoints, input: .microphone(device))
        configure(&configuration)
        let session = VoiceSession(configuration: configuration)
        async let result: SessionError? = {
            do throws(SessionError) {
                _ = try await session.run()
                return nil
            } catch {
                return error
            }
        }()
        let stopper = Task {
            try await Task.sleep(for: .milliseconds(Int(seconds * 1000)))
            await session.stop()
        }
        var events: [SessionEvent.Kind] = []
        for await event in session.events { events.append(event.kind) }
        stopper.cancel()
        return Outcome(events: events, error: await result)
    }

    /// Checks that the stream is the speech from sample `dropped` on, and that the track goes on where it ends.
    private func checkJoin(_ agent: ListeningAgent, _ outcome: Outcome) async throws {
        let speech = try await Self.speech.value
        let sent = try #require(outcome.sent)
        let streams = await agent.streams
        #expect(streams.count == 1)
        let stream = try #require(streams.first)
        #expect(stream.info.topic == "lk.agent.pre-connect-audio-buffer")
        #expect(stream.info.attributes["sampleRate"] == "24000")
        #expect(stream.info.attributes["channels"] == "1")
        #expect(stream.info.attributes["trackId"]?.hasPrefix("TR_") == true)

        // Exact: the very samples, at half the rate.
        let end = sent.dropped + sent.frames
        #expect(end % 960 == 0)
        let expected = try #require(
            Resampler.convert(Array(speech[sent.dropped..<end]), from: 48_000, to: 24_000))
        let isExact = ListeningAgent.samples(stream.bytes) == expected
        #expect(isExact, "the stream is sample for sample what was said")

        // On the track: silence before `end` and the speech after it, aligned to less than a frame.
        let track = try await agent.decoded()
        let begins = try #require(track.firstIndex { abs(Int($0)) > 400 })
        let heard = Array(track[begins...].prefix(96_000))
        #expect(heard.count > 24_000, "the track went on")
        let lag = try #require(Alignment.lag(of: heard, in: speech, around: end, within: 4_800))
        // Heard from there on; what lies between is too quiet to be heard.
        #expect(lag >= end - 960, "the track repeats from \(lag) what the stream has up to \(end)")
        let between = lag > end + 960 ? AudioLevel.decibels(speech[end..<(lag - 480)]) : -127
        #expect(between < -38, "the track goes on at \(lag) where the stream ends at \(end)")
        let likeness = Alignment.correlation(heard, speech, at: lag)
        #expect(likeness > 0.6)
    }

    @Test(.inRealTime, arguments: [0.0, 1.0, 5.0, 8.0]) func nothingIsLostWhileTheTokenIsLate(_ delay: Double)
        async throws
    {
        try await withSandbox({ $0.faults.tokenDelay = .milliseconds(Int(delay * 1000)) }) { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints)
            #expect(await eventually { await server.participants(in: "room").first?.state == .active })
            let outcome = try await session(endpoints, seconds: delay + 3)
            #expect(outcome.error == nil)
            let sent = try #require(outcome.sent)
            #expect(sent.dropped == 0)
            #expect(Double(sent.frames) / 48_000 > delay)
            #expect(Double(sent.frames) / 48_000 < delay + 1)
            try await checkJoin(agent, outcome)
            await agent.leave()
        }
    }

    @Test(.inRealTime) func theAgentIsLate() async throws {
        try await withSandbox { server, endpoints in
            // Made first, so that the session begins when it is told to.
            _ = try await Self.speech.value
            async let outcome = session(endpoints, seconds: 6)
            try await Task.sleep(for: .seconds(3))
            let agent = try await ListeningAgent.join(server, endpoints)
            let result = try await outcome
            let sent = try #require(result.sent)
            #expect(sent.dropped == 0)
            #expect((2.5...4.5).contains(Double(sent.frames) / 48_000))
            try await checkJoin(agent, result)
            await agent.leave()
        }
    }

    @Test(.inRealTime) func theOldestIsDroppedAndThatIsSaid() async throws {
        try await withSandbox({ $0.faults.tokenDelay = .seconds(4) }) { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints)
            let outcome = try await session(endpoints, seconds: 7) { $0.preConnectBuffer = .seconds(2) }
            let sent = try #require(outcome.sent)
            #expect((1.9...2.2).contains(Double(sent.frames) / 48_000))
            #expect((1.8...2.6).contains(Double(sent.dropped) / 48_000))
            #expect(
                outcome.warnings.contains { $0.contains("could not be kept") && $0.contains("--pre-connect-buffer") })
            try await checkJoin(agent, outcome)
            await agent.leave()
        }
    }

    @Test(.inRealTime) func twoAgents() async throws {
        try await withSandbox({ $0.faults.tokenDelay = .seconds(1) }) { server, endpoints in
            let first = try await ListeningAgent.join(server, endpoints, identity: "agent-1")
            let second = try await ListeningAgent.join(server, endpoints, identity: "agent-2")
            let outcome = try await session(endpoints, seconds: 4)
            let counts = [await first.streams.count, await second.streams.count]
            #expect(counts.sorted() == [0, 1], "one agent gets the stream")
            try await checkJoin(counts[0] == 1 ? first : second, outcome)
            // Both hear the track.
            #expect(await first.frameCount > 50)
            #expect(await second.frameCount > 50)
            await first.leave()
            await second.leave()
        }
    }

    @Test(.inRealTime) func noAgentComes() async throws {
        try await withSandbox { _, endpoints in
            let outcome = try await session(endpoints, seconds: 10) { $0.limits.agentJoin = .milliseconds(800) }
            #expect(outcome.error?.category == .agent)
            #expect(outcome.error?.description.contains("no agent joined") == true)
            #expect(outcome.sent == nil)
        }
    }

    @Test(.inRealTime) func anAgentThatDoesNotSubscribeGetsTheStreamInTime() async throws {
        try await withSandbox { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints, autoSubscribe: false)
            let outcome = try await session(endpoints, seconds: 5)
            let sent = try #require(outcome.sent)
            #expect((2.4...3.4).contains(Double(sent.frames) / 48_000), "agents want it complete within 3 s")
            #expect(await agent.streams.count == 1)
            await agent.leave()
        }
    }

    @Test(.inRealTime) func withoutTheBuffer() async throws {
        try await withSandbox({ $0.faults.tokenDelay = .seconds(1) }) { server, endpoints in
            let agent = try await ListeningAgent.join(server, endpoints)
            let outcome = try await session(endpoints, seconds: 4) { $0.preConnectBuffer = nil }
            #expect(outcome.sent == nil)
            #expect(await agent.streams.isEmpty)
            let track = try await agent.decoded()
            let speech = try await Self.speech.value
            let begins = try #require(track.firstIndex { abs(Int($0)) > 400 })
            let heard = Array(track[begins...].prefix(48_000))
            // Live from the moment the track stands, and no earlier.
            let lag = try #require(Alignment.lag(of: heard, in: speech, around: 60_000, within: 24_000))
            #expect(lag > 48_000)
            await agent.leave()
        }
    }

    /// The words are over before the connection stands, and are transcribed and answered all the same.
    @Test(.inRealTime) func theScriptedAgentTranscribesWhatWasSaidBefore() async throws {
        let turn = AgentScript.default.turns[0]
        let words = try await SpeechSynthesizer.shared.speak(turn.expect, voice: AgentVoice()).samples
        try await withSandbox({
            $0.agent = .default
            $0.faults.tokenDelay = .milliseconds(Int64(words.count / 48) + 1_000)
        }) { server, endpoints in
            let device = try CaptureDevice(name: try TestPCMs.speech(words))
            let configuration = SessionConfiguration.of(endpoints, input: .microphone(device))
            let session = VoiceSession(configuration: configuration)
            async let summary = session.run()
            var texts: [String] = []
            for await event in session.events {
                if case .transcript(let transcript) = event.kind, transcript.isFinal { texts.append(transcript.text) }
                if texts.last == turn.reply { await session.stop() }
            }
            _ = try await summary
            #expect(texts == [turn.expect, turn.reply])
        }
    }
}

/// Finds a stretch of sound in a longer one.
enum Alignment {
    /// Where `part` fits best in `whole`, looking around a position; nil where the range holds nothing.
    static func lag(of part: [Int16], in whole: [Int16], around centre: Int, within reach: Int) -> Int? {
        let sample = Array(part.prefix(24_000))
        let range = max(0, centre - reach)...min(whole.count - sample.count, centre + reach)
        func best(_ lags: StrideThrough<Int>, every step: Int) -> Int? {
            lags.map { ($0, correlation(sample, whole, at: $0, every: step)) }.max { $0.1 < $1.1 }?.0
        }
        guard let coarse = best(stride(from: range.lowerBound, through: range.upperBound, by: 8), every: 7) else {
            return nil
        }
        return best(
            stride(from: max(range.lowerBound, coarse - 8), through: min(range.upperBound, coarse + 8), by: 1), every: 3
        )
    }

    /// The normalised correlation of `part` with `whole` from `position` on.
    static func correlation(_ part: [Int16], _ whole: [Int16], at position: Int, every step: Int = 1) -> Double {
        let count = min(part.count, whole.count - position)
        var cross = 0.0
        var first = 1.0
        var second = 1.0
        part.withUnsafeBufferPointer { part in
            whole.withUnsafeBufferPointer { whole in
                for index in stride(from: 0, to: count, by: step) {
                    let a = Double(part[index])
                    let b = Double(whole[position + index])
                    cross += a * b
                    first += a * a
                    second += b * b
                }
            }
        }
        return cross / (first * second).squareRoot()
    }
}
