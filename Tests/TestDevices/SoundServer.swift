public import Foundation

/// A PulseAudio server of a test's own, with two null sinks: what is played on `mic` is what the microphone hears, and
/// what goes to `speaker` can be recorded from its monitor. Ends with the last reference.
public final class SoundServer {
    public let socket: String
    private var process = Process()
    private let folder: String

    public struct Failure: Error {
        public var text: String
    }

    /// The microphone and the loudspeaker as ALSA knows them.
    public var microphone: String { "mic:unix:\(socket)" }
    public var speaker: String { "speaker:unix:\(socket)" }

    public init() throws {
        guard TestPCMs.isReady else { throw TestPCMs.NotReady() }
        // Short: the path of a socket has at most 107 bytes.
        folder = "/tmp/agentctl-pa-\(UUID().uuidString.prefix(8))"
        socket = folder + "/s"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts it, again after ``stop()``.
    public func start() throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        var arguments = [
            "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
            "--high-priority=no", "--realtime=no", "-L",
            "module-native-protocol-unix socket=\(socket) auth-anonymous=1",
        ]
        for sink in ["mic", "speaker"] {
            arguments += ["-L", "module-null-sink sink_name=\(sink) rate=48000 channels=1"]
        }
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        for name in ["HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"] { environment[name] = folder }
        process.environment = environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<200 {
            if FileManager.default.fileExists(atPath: socket), (try? tool("pactl", ["info"]))?.terminationStatus == 0 {
                return
            }
            usleep(25_000)
        }
        throw Failure(text: "pulseaudio did not start; is it installed?")
    }

    /// Kills it, as a crash would.
    public func stop() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: socket)
    }

    /// Plays a raw 48 kHz mono S16 file on the microphone's sink; returns at once.
    public func sayIntoMicrophone(_ path: String) throws {
        try launch("paplay", ["--raw", "--rate=48000", "--channels=1", "--format=s16le", "-d", "mic", path])
    }

    /// Records what the loudspeaker plays; end it with `terminate()`.
    public func recordSpeaker(to path: String) throws -> Process {
        try launch(
            "parecord",
            [
                "--raw", "--rate=48000", "--channels=1", "--format=s16le", "--latency-msec=10", "-d", "speaker.monitor",
                path,
            ])
    }

    @discardableResult
    private func launch(_ name: String, _ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        var environment = ProcessInfo.processInfo.environment
        environment["PULSE_SERVER"] = "unix:\(socket)"
        for name in ["HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"] { environment[name] = folder }
        process.environment = environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func tool(_ name: String, _ arguments: [String]) throws -> Process {
        let process = try launch(name, arguments)
        process.waitUntilExit()
        return process
    }
}
