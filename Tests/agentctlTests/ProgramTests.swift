import Foundation
import Testing

/// The program as a user runs it: a process, its streams, its exit code.
@Suite struct ProgramTests {
    private let hello = Program.hello

    private func run(
        _ arguments: [String], environment: [String: String] = [:], signal: Int32? = nil, after marker: String = ""
    ) async throws -> Program.Outcome {
        try await Program.run(arguments, environment: environment, signal: signal, after: marker)
    }

    private func temporary(_ name: String) -> String { Program.temporary(name) }
    private func samples(_ path: String) throws -> [Int16] { try Program.samples(path) }

    @Test func aSpokenSessionWithTheSandbox() async throws {
        let reply = temporary("reply.wav")
        defer { try? FileManager.default.removeItem(atPath: reply) }
        let outcome = try await run(["talk", "--input", hello, "--output", reply])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(
            outcome.output == "You:   Hello, what are your opening hours today?\n"
                + "Agent: We are open from nine in the morning until six in the evening.\n")
        for word in ["connect ", "turn 1 ", "sent ", "received ", "lost 0", "recording   \(reply)"] {
            #expect(outcome.errors.contains(word))
        }
        let heard = try samples(reply)
        let loud = heard.count { abs(Int($0)) > 1000 }
        #expect(loud > 48_000, "more than a second of the answer is loud")
    }

    @Test func eventsAsJSON() async throws {
        let outcome = try await run(["talk", "--input", hello, "--json"])
        #expect(outcome.code == 0)
        let events = try outcome.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(events.first?["type"] as? String == "started")
        #expect(events.first?["schema"] as? Int == 1)
        #expect(events.last?["type"] as? String == "ended")
        #expect(events.last?["exit_code"] as? Int == 0)
        let finals = events.filter { $0["type"] as? String == "transcript" && $0["final"] as? Bool == true }
        #expect(finals.map { $0["speaker"] as? String } == ["user", "agent"])
        let times = events.compactMap { $0["t"] as? Double }
        #expect(times.count == events.count)
        #expect(!outcome.output.contains("eyJ"), "no token")
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsInGoodOrder(number: Int32) async throws {
        let reply = temporary("reply.wav")
        defer { try? FileManager.default.removeItem(atPath: reply) }
        let outcome = try await run(
            ["talk", "--input", hello, "--output", reply], signal: number, after: "The agent agent-sandbox is here.")
        #expect(outcome.code == 128 + number)
        _ = try samples(reply)
    }

    @Test func aKilledSessionLeavesAPlayableFile() async throws {
        let reply = temporary("reply.wav")
        defer { try? FileManager.default.removeItem(atPath: reply) }
        let outcome = try await run(
            ["talk", "--input", hello, "--output", reply, "-v"], signal: SIGKILL, after: "The agent is speaking.")
        #expect(outcome.code == 137)
        #expect(try samples(reply).count > 48_000)
    }

    @Test func mistakesHaveTheirExitCodes() async throws {
        let empty = temporary("empty.wav")
        #expect(FileManager.default.createFile(atPath: empty, contents: Data()))
        defer { try? FileManager.default.removeItem(atPath: empty) }
        let cases: [([String], Int32, String)] = [
            (["talk", "--microphone", "no-such-device"], 6, "\"no-such-device\""), (["tlak"], 2, "Did you mean talk?"),
            (["talk", "--bitrate", "5"], 2, "--bitrate is '5'"), (["talk", "--frame", "30"], 2, "--frame is '30'"),
            (["talk", "-i", hello, "--tone", "440"], 2, "--input and --tone"),
            (["talk", "-i", "-", "--raw-format", "s8"], 2, "--raw-format is 's8'"),
            (["talk", "--input", "no/such.wav"], 6, "no/such.wav"), (["talk", "--input", "/"], 6, "\"/\""),
            (["talk", "--input", empty], 6, "agentctl-"), (["talk", "--input", #filePath], 6, "not an audio file"),
            (["talk", "--input", hello, "--output", "no/such/reply.wav"], 6, "no/such"),
            (["talk", "--input", hello, "--output", hello], 6, "hello.wav"),
            (["talk", "--input", hello, "--url", "ftp://x", "--token", "a.b.c"], 2, "ftp://x"),
            (["talk", "--input", hello, "--url", "ws://127.0.0.1:1", "--token", "APIabcdef"], 3, "API key"),
            (["talk", "--input", hello, "--url", "ws://127.0.0.1:1"], 2, "no token for ws://127.0.0.1:1"),
            (["talk", "--input", hello, "--sandbox", "x", "--sandbox-url", "http://127.0.0.1:1"], 4, "refused"),
            (["token"], 2, "no token source"), (["completions", "tcsh"], 2, "name a shell"),
            (["sandbox", "--port", "99999"], 2, "--port is '99999'"),
            (["talk", "--config", "no/such.yaml"], 2, "no/such.yaml"),
        ]
        for (arguments, code, words) in cases {
            let outcome = try await run(arguments)
            #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
            #expect(outcome.errors.contains(words), "\(arguments): \(outcome.errors)")
            #expect(outcome.output.isEmpty)
        }
    }

    @Test func tokensAreShownWithoutTheirSecrets() async throws {
        let arguments = [
            "token", "--url", "ws://localhost:7880", "--api-key", "devkey", "--room", "demo", "--identity", "me",
            "--agent", "support",
        ]
        let secret = ["LIVEKIT_API_SECRET": "very-secret-word"]
        let shown = try await run(arguments, environment: secret)
        #expect(shown.code == 0)
        for word in ["room        demo", "identity    me", "dispatches  support", "roomJoin=true", "in 6.0 h"] {
            #expect(shown.output.contains(word), "\(shown.output)")
        }
        #expect(!shown.output.contains("eyJ") && !(shown.output + shown.errors).contains("very-secret-word"))
        let printed = try await run(arguments + ["--print-token"], environment: secret)
        #expect(printed.output.split(separator: ".").count == 3)
        let refused = try await run(arguments)
        #expect(refused.code == 2)
        #expect(refused.errors.contains("LIVEKIT_API_SECRET"))
    }

    @Test func informationIsPrinted() async throws {
        #expect(try await run(["--version"]).output.hasPrefix("agentctl "))
        #expect(try await run(["--help"]).output.contains("Commands:"))
        #expect(try await run(["talk", "--help"]).output.contains("--trailing-silence"))
        #expect(try await run(["man"]).output.hasPrefix(".TH AGENTCTL 1"))
        #expect(try await run(["completions", "bash"]).output.contains("complete -o filenames -F _agentctl agentctl"))
    }
}
