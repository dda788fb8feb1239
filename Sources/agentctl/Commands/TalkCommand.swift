import AgentCore
import AgentSandbox
import AudioPipeline
import Foundation
import LoopCore

/// `agentctl talk`: say a recording to an agent and hear the answer out.
enum TalkCommand {
    static let spec = CommandSpec(
        name: "talk",
        summary: "Say a recording to an agent, print both sides' words, keep the answer",
        discussion:
            "Joins a room, waits until the agent listens, says the file in real time, and ends when the agent has "
            + "answered. With no server set, a sandbox with a scripted agent serves inside the program.",
        argument: nil,
        groups: [
            CommandSpec.Group(
                title: "Audio",
                options: [
                    .value(
                        "input", short: "i", "FILE", completion: .file,
                        "recording to say: WAV, FLAC, Ogg, any rate and channels"),
                    .value(
                        "output", short: "o", "FILE", completion: .file, "keep what the agent says, as 48 kHz mono WAV"),
                    .value("bitrate", "BITS", config: "bitrate", defaultText: "32000", "Opus bit rate, bits a second"),
                    .value("complexity", "N", config: "complexity", defaultText: "9", "Opus complexity, 0 to 10"),
                    .flag("fec", negatable: true, config: "fec", "Opus in-band error correction (default: on)"),
                    .flag("red", negatable: true, config: "red", "redundant audio, RFC 2198 (default: on)"),
                    .value("lead-in", "MS", config: "lead_in", defaultText: "200", "silence before the recording"),
                    .value(
                        "trailing-silence", "MS", config: "trailing_silence", defaultText: "800",
                        "silence after it, before the wait for the answer"),
                ]),
            ConnectionOptions.source, ConnectionOptions.participant,
            CommandSpec.Group(
                title: "Time limits",
                options: [
                    .value(
                        "agent-timeout", "SECONDS", config: "agent_timeout", defaultText: "20",
                        "wait for an agent to join"),
                    .value("timeout", "SECONDS", config: "timeout", defaultText: "30", "wait for the answer to begin"),
                ]),
            CommandSpec.Group(
                title: ConnectionOptions.network.title,
                options: ConnectionOptions.network.options + [
                    .flag("dual-pc", config: "dual_pc", "use two peer connections, as older servers do"),
                    .flag("relay-only", config: "relay_only", "connect through TURN only"),
                ]),
            CommandSpec.Group(title: "Output", options: outputOptions),
        ],
        examples: [
            ("agentctl talk --input hello.wav --output reply.wav", "a session with the agent of the built-in sandbox"),
            ("agentctl talk --sandbox my-sandbox-1a2b3c --input hello.wav", "an agent behind a LiveKit Cloud sandbox"),
            (
                "agentctl talk --url ws://localhost:7880 --api-key devkey --agent support --input hello.wav --json",
                "a local server; LIVEKIT_API_SECRET is set; events as NDJSON"
            ),
        ],
        run: { settings in await run(settings) })

    static let outputOptions: [OptionSpec] = [
        .flag("json", "print events as JSON lines (NDJSON)"),
        .flag("plain", config: "plain", "no rewriting of lines and no colour"),
        .flag("quiet", short: "q", "print the transcript only"),
        .flag("verbose", short: "v", "tell every step"),
        .value("config", "FILE", completion: .file, "configuration file"),
    ]

    static func run(_ settings: Settings) async -> Int32 {
        do {
            return try await talk(settings)
        } catch let error as UsageError {
            return fail(error.description, code: ExitCode.usage)
        } catch let error as SandboxError {
            return fail(error.description, code: SessionError.Category.connection.rawValue)
        } catch {
            return fail("\(error)", code: SessionError.Category.internal.rawValue)
        }
    }

    static func fail(_ message: String, code: Int32) -> Int32 {
        Output.shared.note("agentctl: " + TerminalText.sanitized(message))
        return code
    }

    private static func talk(_ settings: Settings) async throws -> Int32 {
        guard let input = try settings.string("input") else {
            throw UsageError(description: "nothing to say: give --input FILE. See agentctl talk --help")
        }
        var source = try ConnectionOptions.source(settings)
        var configuration = try configuration(settings, input: input, source: source)
        var server: SandboxServer?
        if source == nil {
            let sandbox = SandboxServer(loop: EventLoop(name: "agentctl-sandbox"))
            let endpoints = try await sandbox.start()
            source = .sandbox(id: "embedded", baseURL: endpoints.http)
            configuration.room.loopbackOnly = true
            server = sandbox
        }
        if let source { configuration.tokenSource = source }
        let code = await session(configuration, settings: settings)
        await server?.stop()
        return code
    }

    private static func session(_ configuration: SessionConfiguration, settings: Settings) async -> Int32 {
        let session = VoiceSession(configuration: configuration)
        let isJSON = (try? settings.flag("json")) == true
        let isPlain = (try? settings.flag("plain")) == true
        let renderer = SessionRenderer(
            mode: isJSON ? .json : .people(.current(environment: settings.environment, plain: isPlain)),
            verbosity: settings.arguments.flags["quiet"] == true
                ? .quiet : settings.arguments.flags["verbose"] == true ? .verbose : .normal)
        let interruption = Interruption()
        let signals = Signals { number in
            interruption.set(number)
            Task { await session.stop() }
        }
        defer { withExtendedLifetime(signals) {} }
        async let outcome = result(of: session)
        for await event in session.events { renderer.show(event) }
        switch await outcome {
        case .success: return interruption.exitCode ?? ExitCode.done
        case .failure(let error):
            if let code = interruption.exitCode { return code }
            return fail(error.description, code: error.exitCode)
        }
    }

    private static func result(of session: VoiceSession) async -> Result<SessionSummary, SessionError> {
        do throws(SessionError) {
            return .success(try await session.run())
        } catch {
            return .failure(error)
        }
    }

    private static func configuration(
        _ settings: Settings, input: String, source: TokenSourceConfiguration?
    ) throws(UsageError) -> SessionConfiguration {
        var room = Room.Options()
        room.web = try ConnectionOptions.web(settings)
        if try settings.flag("dual-pc") == true { room.peerConnections = .dual }
        room.relayOnly = try settings.flag("relay-only") ?? false
        var result = SessionConfiguration(
            tokenSource: source ?? .sandbox(id: "embedded", baseURL: ""),
            tokenRequest: try ConnectionOptions.request(settings), room: room, input: input)
        result.output = try settings.string("output")
        if let bitrate = try settings.integer("bitrate", in: 6_000...510_000, unit: "bits a second") {
            result.encoder.bitrate = bitrate
        }
        if let complexity = try settings.integer("complexity", in: 0...10, unit: "") {
            result.encoder.complexity = complexity
        }
        if let fec = try settings.flag("fec") { result.encoder.fec = fec }
        if let red = try settings.flag("red") {
            result.redundantAudio = red
            result.room.allowsRedundantAudio = red
        }
        if let leadIn = try settings.milliseconds("lead-in", in: 0...60_000) { result.leadIn = leadIn }
        if let trailing = try settings.milliseconds("trailing-silence", in: 0...60_000) {
            result.trailingSilence = trailing
        }
        if let limit = try settings.seconds("agent-timeout", in: 0.1...3600) { result.limits.agentJoin = limit }
        if let limit = try settings.seconds("timeout", in: 0.1...3600) { result.limits.reply = limit }
        return result
    }
}
