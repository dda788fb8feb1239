import Foundation
import TestDevices
import Testing

/// Sound in and out of the program: devices, pipes, recordings.
@Suite(.timeLimit(.minutes(3))) struct SoundProgramTests {
    private func devices() throws -> [String: String] {
        try #require(TestPCMs.isReady)
        return ["ALSA_CONFIG_PATH": String(cString: getenv("ALSA_CONFIG_PATH"))]
    }

    /// The bundled sentence as raw 48 kHz mono.
    private func sentence() throws -> [Int16] {
        let samples = try Program.samples(Program.hello)
        // 16 kHz: each sample three times is good enough to be heard as speech.
        return samples.flatMap { [$0, $0, $0] }
    }

    @Test func aMicrophoneSessionKeepsWhatIsSaidAtOnce() async throws {
        let folder = Program.temporary("record")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outcome = try await Program.run(
            [
                "talk", "--microphone", try TestPCMs.speech(try sentence()), "--speaker", "null", "--record", folder,
                "--duration", "12",
            ], environment: try devices())
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(
            outcome.output == "You:   Hello, what are your opening hours today?\n"
                + "Agent: We are open from nine in the morning until six in the evening.\n")
        for word in ["The agent was given", "microphone ", "S16_LE x 1", "xruns 0", "speaker "] {
            #expect(outcome.errors.contains(word), "\(outcome.errors)")
        }
        let user = try Program.samples(folder + "/user.wav")
        let agent = try Program.samples(folder + "/agent.wav")
        #expect(user.count == agent.count)
        #expect(user.count > 10 * 48_000)
        #expect(agent.count { abs(Int($0)) > 1000 } > 48_000)
    }

    @Test func recordingsSurviveAKill() async throws {
        let folder = Program.temporary("killed")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outcome = try await Program.run(
            ["talk", "--input", Program.hello, "--record", folder, "-v"], signal: SIGKILL,
            after: "The agent is speaking.")
        #expect(outcome.code == 137)
        let user = try Program.samples(folder + "/user.wav")
        #expect(user.count > 3 * 48_000)
        #expect(abs(user.count - (try Program.samples(folder + "/agent.wav")).count) <= 4_800)
        let lines = try String(contentsOfFile: folder + "/events.jsonl", encoding: .utf8).split(separator: "\n")
        #expect(lines.count > 5)
        for line in lines { #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil) }
    }

    /// A disk that fills up in the middle: a limit on the size of files does the same.
    @Test func aFullDiskIsReportedAndTheSessionGoesOn() async throws {
        let folder = Program.temporary("full")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outcome = try await Program.run(
            ["talk", "--input", Program.hello, "--record", folder],
            shell: "trap '' XFSZ; ulimit -f 200; exec \"$@\"")
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("Agent: We are open"))
        #expect(outcome.errors.contains("user.wav"))
        #expect(outcome.errors.contains("The session goes on"))
        #expect(try Program.samples(folder + "/user.wav").count > 40_000)
    }

    @Test func soundThroughPipes() async throws {
        let raw = try sentence().withUnsafeBytes { Data($0) }
        let outcome = try await Program.run(
            ["talk", "--input", "-", "--output", "-", "--output-format", "raw"], input: raw)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let heard = outcome.bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        #expect(heard.count { abs(Int($0)) > 1000 } > 48_000, "more than a second of the answer is loud")
        // The words go where the sound does not.
        #expect(outcome.errors.contains("Agent: We are open from nine"))
        #expect(outcome.errors.contains("You:   Hello"))
    }

    @Test func wavThroughPipesAndFIFOs() async throws {
        let fifo = Program.temporary("fifo")
        #expect(mkfifo(fifo, 0o600) == 0)
        defer { unlink(fifo) }
        let outcome = try await Program.run(
            ["talk", "--input", fifo, "--output", "-"], shell: "cat '\(Program.hello)' > '\(fifo)' & exec \"$@\"")
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.bytes.starts(with: Data("RIFF".utf8)))
        #expect(outcome.bytes.count > 96_000)
    }

    @Test func whatIsNoSoundInAPipe() async throws {
        let nothing = try await Program.run(["talk", "--input", "-"], input: Data())
        #expect(nothing.code == 6)
        #expect(nothing.errors.contains("standard input"))
        let text = try await Program.run(["talk", "--input", "-", "--input-format", "wav"], input: Data("hello".utf8))
        #expect(text.code == 6)
    }

    /// Results that cannot be written are no success, while a reader that has read enough is.
    @Test func lostOutputIsAnError() async throws {
        let full = try await Program.run(["--help"], shell: "exec \"$@\" > /dev/full")
        #expect(full.code == 70)
        #expect(full.errors.contains("standard output could not be written"))
        let closed = try await Program.run(["--help"], shell: "\"$@\" | true")
        #expect(closed.code == 0)
        #expect(try await Program.run(["--version"], shell: "exec \"$@\" >&-").code == 0)
    }

    @Test func aTokenWithTimesBeyondReason() async throws {
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }
        let claims =
            #"{"exp":1e300,"nbf":-1e300,"iat":99999999999999999999,"iss":"k","sub":"me","video":{"roomJoin":true,"room":"r"}}"#
        let token = part(#"{"alg":"HS256","typ":"JWT"}"#) + "." + part(claims) + ".c2ln"
        for extra in [[], ["--json"]] {
            let outcome = try await Program.run(["token", "--url", "ws://127.0.0.1:1", "--token", token] + extra)
            #expect([0, 3].contains(outcome.code), "\(outcome.errors)")
        }
    }

    @Test func devicesAreListedAndTested() async throws {
        let environment = try devices()
        let list = try await Program.run(["devices"], environment: environment)
        #expect(list.output.contains("null\n"))
        #expect(list.output.contains("capture   S16_LE"))
        let json = try await Program.run(["devices", "--json"], environment: environment)
        let object = try JSONSerialization.jsonObject(with: json.bytes) as? [String: Any]
        #expect(object?["schema"] as? Int == 1)
        #expect((object?["devices"] as? [[String: Any]])?.contains { $0["name"] as? String == "null" } == true)
        let test = try await Program.run(
            [
                "devices", "--test", "--microphone", try TestPCMs.speech(try sentence()), "--speaker", "null",
                "--seconds", "1",
            ],
            environment: environment)
        #expect(test.code == 0, "\(test.errors)")
        #expect(test.output.contains("loudest -"))
        let silent = try await Program.run(
            ["devices", "--test", "--microphone", "null", "--speaker", "none", "--seconds", "0.3"],
            environment: environment)
        #expect(silent.code == 6)
        #expect(silent.errors.contains("only silence"))
    }

    @Test func aToneAndNoiseInIt() async throws {
        let outcome = try await Program.run(
            [
                "talk", "--tone", "440", "--mix", Program.hello, "--mix-gain", "-6", "--duration", "1.5", "--frame",
                "40",
                "--stereo",
            ])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let missing = try await Program.run(["talk", "--tone", "440", "--mix", "no/such.wav"])
        #expect(missing.code == 6)
        #expect(missing.errors.contains("no/such.wav"))
    }

    /// In a terminal: m mutes, q quits, and the terminal is as it was.
    @Test func keysInATerminal() async throws {
        let log = Program.temporary("keys")
        defer { try? FileManager.default.removeItem(atPath: log) }
        let command =
            "(sleep 2; printf m; sleep 0.5; printf m; sleep 0.5; printf q) | script -qec "
            + "\"sh -c '\(Program.binary.path) talk --microphone null --speaker none; echo code=$?; stty -a | grep -o icanon'\" \(log)"
        let environment = try devices()
        let outcome = try await Program.run([], environment: environment, shell: command)
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        #expect(text.contains("The microphone is muted."), "\(text)")
        #expect(text.contains("The microphone is on."), "\(text)")
        #expect(text.contains("code=0"), "\(text)")
        #expect(text.contains("icanon"), "\(text)")
        _ = outcome
    }
}
