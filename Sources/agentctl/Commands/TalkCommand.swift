import AgentCore
import AgentSandbox
import AudioPipeline
import Foundation
import LoopCore

/// `agentctl talk`: speak with an agent, or say a recording to it.
enum TalkCommand {
    static let spec = CommandSpec(
        name: "talk",
        summary: "Speak with an agent, or say a recording to it, and see both sides' words",
        discussion:
            "With a microphone (the default) the conversation begins at once: what is said while the connection is made "
            + "is kept and reaches the agent. m mutes, q quits. With --input a recording is said when the agent listens, "
            + "and the session ends when it has answered. With no server set, a sandbox with a scripted agent serves "
            + "inside the program.",
        argument: nil,
        groups: [
            AudioOptions.sound, AudioOptions.processing, AudioOptions.codec,
            ConnectionOptions.source, ConnectionOptions.participant,
            CommandSpec.Group(
                title: "Client tools",
                options: [
                    .value(
                        "tools", "FILE", config: "tools", completion: .file,
                        "serve the RPC methods that this YAML file declares")
                ]),
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
            ("agentctl talk", "speak with the agent of the built-in sandbox"),
            ("agentctl talk --input hello.wav --output reply.wav", "say a recording to it and keep the answer"),
            ("arecord -f S16_LE -r 16000 -t raw | agentctl talk -i - --raw-format s16:16000", "speech through a pipe"),
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
        } catch let error as AudioDeviceError {
            return fail(error.description, code: SessionError.Category.audio.rawValue)
        } catch let error as SessionError {
            return fail(error.description, code: error.exitCode)
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
        if AudioOptions.usesStandardOutput(settings) { Output.shared.moveToStandardError() }
        var source = try ConnectionOptions.source(settings)
        var configuration = try configuration(settings, source: source)
        // Before anything that takes time: what is said from now on is kept.
        try AudioOptions.apply(settings, to: &configuration)
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
        let keys = configuration.input.isLive && !isPlain && !isJSON ? KeyReader.start() : nil
        defer { keys?.stop() }
        if let presses = keys?.keys {
            Task {
                for await key in presses {
                    switch key {
                    case "m", "M": await session.setMuted(!session.isMuted)
                    case "q", "Q": await session.stop()
                    default: break
                    }
                }
            }
        }
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
        _ settings: Settings, source: TokenSourceConfiguration?
    ) throws(UsageError) -> SessionConfiguration {
        var room = Room.Options()
        room.web = try ConnectionOptions.web(settings)
        if try settings.flag("dual-pc") == true { room.peerConnections = .dual }
        room.relayOnly = try settings.flag("relay-only") ?? false
        var result = SessionConfiguration(
            tokenSource: source ?? .sandbox(id: "embedded", baseURL: ""),
            tokenRequest: try ConnectionOptions.request(settings), room: room, input: .silence)
        if let file = try settings.string("tools") {
            do {
                result.tools = try ClientTool.load(path: file)
            } catch {
                throw UsageError(description: error.description)
            }
        }
        if let limit = try settings.seconds("agent-timeout", in: 0.1...3600) { result.limits.agentJoin = limit }
        if let limit = try settings.seconds("timeout", in: 0.1...3600) { result.limits.reply = limit }
        return result
    }
}
