import AgentCore
import AgentSandbox
import Foundation
import LoopCore

/// `agentctl sandbox`: the embedded server with its scripted agent, until it is stopped.
enum SandboxCommand {
    static let spec = CommandSpec(
        name: "sandbox",
        summary: "Serve a LiveKit-compatible sandbox with a scripted agent on this machine",
        discussion:
            "Clients join it with tokens of its token endpoints (POST /token, or the sandbox endpoint of LiveKit Cloud "
            + "under this address) or with tokens made with its key and secret. The first line on standard output is "
            + "its URL.",
        argument: nil,
        groups: [
            CommandSpec.Group(
                title: "Server",
                options: [
                    .value(
                        "address", "IP", config: "sandbox_address", defaultText: "127.0.0.1", "address to listen on"),
                    .value(
                        "port", "PORT", config: "sandbox_port", defaultText: "7880",
                        "port to listen on; 0 for a free one"),
                    .value(
                        "api-key", "KEY", defaultText: "devkey",
                        "key of its tokens; the secret is LIVEKIT_SANDBOX_SECRET, or `secret`"),
                ]),
            CommandSpec.Group(
                title: "Agent",
                options: [
                    .value(
                        "script", "FILE", config: "sandbox_script", completion: .file,
                        "what the agent expects and says, YAML"),
                    .flag("agent", negatable: true, "whether an agent comes (default: on)"),
                    .value("agent-delay", "SECONDS", "how much later than the user it comes"),
                ]),
            CommandSpec.Group(
                title: "Faults",
                options: [
                    .value("refuse-tokens", "STATUS", "answer token requests with this HTTP status"),
                    .value("loss", "PERCENT", "lose this share of the forwarded audio packets"),
                    .value("delay", "MS", "delay forwarded audio"),
                    .value("jitter", "MS", "delay each forwarded packet by up to so much more"),
                    .flag("old", "answer 404 on /rtc/v1, as servers before 1.9.2 do"),
                ]),
            CommandSpec.Group(
                title: "Output",
                options: [
                    .flag("verbose", short: "v", "tell what happens"),
                    .value("config", "FILE", completion: .file, "configuration file"),
                ]),
        ],
        examples: [
            ("agentctl sandbox", "serve on ws://127.0.0.1:7880"),
            ("agentctl sandbox --port 0 --script agent.yaml --loss 5", "a free port, an agent of your own, 5 % loss"),
        ],
        run: { settings in await run(settings) })

    static func run(_ settings: Settings) async -> Int32 {
        do {
            let configuration = try configuration(settings)
            if let script = configuration.agent { try await checkVoice(of: script) }
            let server = SandboxServer(loop: EventLoop(name: "agentctl-sandbox"), configuration: configuration)
            let endpoints = try await server.start()
            let stopped = AsyncStream.makeStream(of: Int32.self)
            let signals = Signals { stopped.continuation.yield($0) }
            defer { withExtendedLifetime(signals) {} }
            Output.shared.writeLine(endpoints.signal)
            Output.shared.note("Serving on \(endpoints.signal); Ctrl-C stops.")
            Output.shared.note("Tokens: POST \(endpoints.http)/token, or make them with key \(configuration.apiKey).")
            for await _ in stopped.stream { break }
            await server.stop()
            // Being stopped is how a server ends: that is no failure.
            return ExitCode.done
        } catch let error as UsageError {
            return TalkCommand.fail(error.description, code: ExitCode.usage)
        } catch let error as SandboxError {
            return TalkCommand.fail(error.description, code: SessionError.Category.connection.rawValue)
        } catch {
            return TalkCommand.fail("\(error)", code: SessionError.Category.internal.rawValue)
        }
    }

    /// A voice that is not there would leave the agent mute.
    private static func checkVoice(of script: AgentScript) async throws(UsageError) {
        do {
            _ = try await SpeechSynthesizer.shared.speak("a", voice: script.voice)
        } catch {
            throw UsageError(description: "\(error)")
        }
    }

    private static func configuration(_ settings: Settings) throws(UsageError) -> SandboxConfiguration {
        var configuration = SandboxConfiguration()
        if let address = try settings.string("address") { configuration.address = address }
        configuration.port = UInt16(try settings.integer("port", in: 0...65_535, unit: "") ?? 7880)
        if let key = try settings.string("api-key") { configuration.apiKey = key }
        if let secret = settings.environment["LIVEKIT_SANDBOX_SECRET"], !secret.isEmpty {
            configuration.apiSecret = secret
        }
        if try settings.flag("agent") == false { configuration.agent = nil }
        if let path = try settings.string("script"), configuration.agent != nil {
            configuration.agent = try script(path)
        }
        if let delay = try settings.seconds("agent-delay", in: 0...3600) { configuration.faults.agentDelay = delay }
        if let status = try settings.integer("refuse-tokens", in: 400...599, unit: "HTTP status") {
            configuration.faults.token = .status(status)
        }
        if let loss = try settings.integer("loss", in: 0...100, unit: "percent") {
            configuration.faults.media.loss = Double(loss) / 100
        }
        if let delay = try settings.milliseconds("delay", in: 0...10_000) { configuration.faults.media.delay = delay }
        if let jitter = try settings.milliseconds("jitter", in: 0...10_000) {
            configuration.faults.media.jitter = jitter
        }
        configuration.faults.refusesSinglePeerConnection = try settings.flag("old") ?? false
        if settings.arguments.flags["verbose"] == true {
            configuration.log = { Output.shared.note(TerminalText.sanitized($0)) }
        }
        return configuration
    }

    private static func script(_ path: String) throws(UsageError) -> AgentScript {
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
        else {
            throw UsageError(
                description:
                    "the script \(path) cannot be read. Check that it exists, that you may read it, and that it is UTF-8 text"
            )
        }
        do throws(YAMLError) {
            return try AgentScript(yaml: text)
        } catch {
            throw UsageError(description: "\(path):\(error)")
        }
    }
}
