import Foundation

/// A PulseAudio server of a test's own, with two null sinks: what is played on `mic` is what the microphone hears, and
/// what goes to `speaker` can be recorded from its monitor. Ends with the last reference.
public final class SoundServer {
    public let socket: String
    private var process: SpawnedProcess?
    private var players: [SpawnedProcess] = []
    private let folder: String

    public struct Failure: Error {
        public var text: String
    }

    /// The microphone and the loudspeaker as ALSA knows them.
    public var microphone: String { "mic:unix:\(socket)" }
    public var speaker: String { "speaker:unix:\(socket)" }

    private let isUrgent: Bool

    /// - Parameter isUrgent: asks for real-time scheduling, as sound servers usually have it.
    public init(isUrgent: Bool = false) throws {
        self.isUrgent = isUrgent
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
        var arguments = [
            "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
            "--high-priority=\(isUrgent ? "yes" : "no")", "--realtime=\(isUrgent ? "yes" : "no")", "-L",
            "module-native-protocol-unix socket=\(socket) auth-anonymous=1",
        ]
        for sink in ["mic", "speaker"] {
            arguments += ["-L", "module-null-sink sink_name=\(sink) rate=48000 channels=1"]
        }
        process = try SpawnedProcess(arguments, environment: environment)
        for _ in 0..<200 {
            if FileManager.default.fileExists(atPath: socket), (try? launch("pactl", ["info"]).wait()) == 0 {
                return
            }
            usleep(25_000)
        }
        throw Failure(text: "pulseaudio did not start; is it installed?")
    }

    /// Kills it, as a crash would.
    public func stop() {
        process?.kill()
        process = nil
        try? FileManager.default.removeItem(atPath: socket)
    }

    /// Plays a raw 48 kHz mono S16 file on the microphone's sink; returns at once.
    public func sayIntoMicrophone(_ path: String) throws {
        players.append(
            try launch("paplay", ["--raw", "--rate=48000", "--channels=1", "--format=s16le", "-d", "mic", path]))
    }

    /// Records what the loudspeaker plays, until the process is killed.
    public func recordSpeaker(to path: String) throws -> SpawnedProcess {
        try launch(
            "parecord",
            [
                "--raw", "--rate=48000", "--channels=1", "--format=s16le", "--latency-msec=10", "-d", "speaker.monitor",
                path,
            ])
    }

    /// The environment in which programs find this server.
    public var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        for name in ["HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"] { environment[name] = folder }
        environment["PULSE_SERVER"] = "unix:\(socket)"
        return environment
    }

    private func launch(_ name: String, _ arguments: [String]) throws -> SpawnedProcess {
        try SpawnedProcess([name] + arguments, environment: environment)
    }
}
