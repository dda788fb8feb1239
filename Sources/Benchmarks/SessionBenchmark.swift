import AgentCore
import AgentSandbox
import AudioPipeline
import Foundation
import LoopCore

/// A whole voice session as a process of its own, against bare libopus and against the official Python SDK in the same
/// room of the same server. The server, its agent and the observer run in this process, so their CPU is counted apart.
enum SessionBenchmark {
    static let seconds = 40

    /// Hears when the first audio of a participant reaches the other side.
    private actor Observer {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var room: Room?
        private var users: Set<String> = []
        private var firstFrame: MonotonicTime?

        init(loop: EventLoop) { self.loop = loop }

        func join(_ url: String, token: String) {
            var options = Room.Options()
            options.loopbackOnly = true
            let room = Room(loop: loop, options: options)
            room.onEvent = { [self] event in
                if case .trackSubscribed(let sid, let participant) = event, participant?.isAgent == false {
                    users.insert(sid)
                }
            }
            room.onAudioFrame = { [self] sid, frame in
                if users.contains(sid), firstFrame == nil { firstFrame = frame.arrival }
            }
            room.connect(url: url, token: token)
            self.room = room
        }

        func leave() -> MonotonicTime? {
            room?.leaveNow()
            room = nil
            return firstFrame
        }
    }

    private struct Session {
        var process: ChildProcess
        /// From the start of the process to its first audio at another participant.
        var firstAudio: Duration?
    }

    /// From the start of the process to the first sample that its session takes out of the microphone's ring. The event
    /// that tells of it carries a time on the session's clock, which began a little after the process did.
    private static func captureStart(_ binary: String) throws -> Figure {
        var least = Double.infinity
        for _ in 0..<5 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: binary)
            process.arguments = [
                "talk", "--microphone", "null", "--speaker", "none", "--duration", "0.2", "--json", "--record",
                FileManager.default.temporaryDirectory.appendingPathComponent("agentctl-bench-capture").path,
            ]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            let started = MonotonicTime.now
            try process.run()
            var text = ""
            var first: Double?
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                text += String(decoding: data, as: UTF8.self)
                if first == nil, text.contains("\"recording_started\"") {
                    first = (MonotonicTime.now - started).milliseconds
                }
            }
            process.waitUntilExit()
            least = min(least, first ?? .infinity)
        }
        return Figure(
            name: "process start to the first captured sample", value: least, unit: "ms", target: .atMost(50),
            note: "as seen by whoever started it; ALSA's null device")
    }

    static func figures() throws -> [Figure] {
        let input = try makeInput(seconds: seconds)
        let short = try makeInput(seconds: 2)
        defer { for path in [input, short] { try? FileManager.default.removeItem(atPath: path) } }
        let binary = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
            .appendingPathComponent("agentctl").path
        guard FileManager.default.isExecutableFile(atPath: binary) else {
            throw CodecBenchmark.Failure(message: "\(binary) is not built: swift build -c release")
        }
        let ours = try session(binary, isObserved: false) { _, _ in
            ["talk", "--input", input, "--output", "/dev/null", "-q"]
        }
        // Nobody answers here; the first packet is all that is waited for.
        let ourStart = try session(binary, isObserved: true, expected: 5) { _, _ in
            ["talk", "--input", short, "-q", "--agent-timeout", "2"]
        }
        let bare = try CodecBenchmark.bareOpus(try Speech.frames(seconds * 50))
        var figures = [
            Figure(
                name: "CPU of a session / libopus encode + decode", value: ours.process.cpu / bare, unit: "x",
                target: .atMost(1.5), note: "\(seconds) s of speech, whole process from start to exit"),
            Figure(
                name: "resident memory of a session", value: ours.process.peakMegabytes, unit: "MB", target: .atMost(25)
            ),
            Figure(
                name: "process start to first audio at another participant",
                value: ourStart.firstAudio?.milliseconds ?? .infinity, unit: "ms", target: .none),
        ]
        figures.append(try captureStart(binary))
        guard let python = python() else {
            print("session: the Python SDK is not installed (make interop installs it), so it is not compared.")
            return figures
        }
        let script = Speech.root + "/Tests/Interop/bench_session.py"
        let theirs = try session(python, isObserved: false) { url, token in [script, url, token, input] }
        let theirStart = try session(python, isObserved: true) { url, token in [script, url, token, short] }
        figures += [
            Figure(
                name: "CPU of a session / Python SDK's", value: ours.process.cpu / theirs.process.cpu, unit: "x",
                target: .atMost(1.0 / 6), note: "the Python SDK: \(Report.number(theirs.process.cpu)) s of CPU"),
            Figure(
                name: "start to first audio / Python SDK's",
                value: (ourStart.firstAudio?.inSeconds ?? .infinity) / (theirStart.firstAudio?.inSeconds ?? .nan),
                unit: "x", target: .atMost(1.0 / 3),
                note: "the Python SDK: \(Report.number(theirStart.firstAudio?.milliseconds ?? .nan)) ms"),
            Figure(
                name: "resident memory / Python SDK's",
                value: ours.process.peakMegabytes / theirs.process.peakMegabytes,
                unit: "x", target: .none, note: "the Python SDK: \(Report.number(theirs.process.peakMegabytes)) MB"),
        ]
        return figures
    }

    /// Runs a program against a server of its own: with the scripted agent, or with an observer who hears when its
    /// audio begins.
    private static func session(
        _ program: String, isObserved: Bool, expected: Int32 = 0,
        _ arguments: (_ url: String, _ token: String) -> [String]
    ) throws -> Session {
        let loop = EventLoop(name: "bench-server")
        defer { loop.stop() }
        var configuration = SandboxConfiguration()
        if isObserved { configuration.agent = nil }
        let server = SandboxServer(loop: loop, configuration: configuration)
        let endpoints = try Waiting.wait { try await server.start() }
        defer { Waiting.wait { await server.stop() } }
        let token = try Waiting.wait { try await server.makeToken(identity: "user", room: "bench") }
        let observer = Observer(loop: loop)
        if isObserved {
            let watch = try Waiting.wait { try await server.makeToken(identity: "observer", room: "bench") }
            Waiting.wait { await observer.join(endpoints.signal, token: watch) }
            Thread.sleep(forTimeInterval: 0.5)
        }
        let process = try ChildProcess.run(
            program, arguments(endpoints.signal, token),
            environment: ["LIVEKIT_URL": endpoints.signal, "LIVEKIT_TOKEN": token])
        let first = Waiting.wait { await observer.leave() }
        let code = process.status >> 8
        guard process.status & 0x7f == 0, code == expected else {
            throw CodecBenchmark.Failure(message: "\(program) ended with status \(process.status)")
        }
        return Session(process: process, firstAudio: first.map { $0 - process.started })
    }

    /// The bundled sentence over and over, as one file.
    private static func makeInput(seconds: Int) throws -> String {
        let name = "agentctl-bench-\(getpid())-\(seconds).wav"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        let writer = try WAVWriter(path: path, sampleRate: AudioFormat.sampleRate, channels: 1)
        for frame in try Speech.frames(seconds * 50) { try writer.write(frame) }
        try writer.close()
        return path
    }

    private static func python() -> String? {
        let candidates = [
            ProcessInfo.processInfo.environment["AGENTCTL_PYTHON"], Speech.root + "/.build/venv/bin/python",
        ]
        return candidates.compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
