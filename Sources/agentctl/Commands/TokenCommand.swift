import AgentCore
import Foundation
import LoopCore

/// `agentctl token`: fetch or make a token and show what it says.
enum TokenCommand {
    static let spec = CommandSpec(
        name: "token",
        summary: "Fetch or make a token and show its claims, grants and expiry",
        discussion:
            "Uses the same settings as talk. The token itself is shown only with --print-token; the secret never is.",
        argument: nil,
        groups: [
            ConnectionOptions.source, ConnectionOptions.participant, ConnectionOptions.network,
            CommandSpec.Group(
                title: "Output",
                options: [
                    .flag("print-token", "print the token alone, for use in scripts"),
                    .flag("json", "print what the token says as one JSON object"),
                    .value("config", "FILE", completion: .file, "configuration file"),
                ]),
        ],
        examples: [
            ("agentctl token --sandbox my-sandbox-1a2b3c", "what a sandbox gives"),
            (
                "agentctl token --url ws://localhost:7880 --api-key devkey --room demo --print-token",
                "a token for a local server; LIVEKIT_API_SECRET is set"
            ),
        ],
        run: { settings in await run(settings) })

    static func run(_ settings: Settings) async -> Int32 {
        do {
            guard let source = try ConnectionOptions.source(settings) else {
                throw UsageError(
                    description: "no token source. Give --sandbox, --token-endpoint or --token, or set LIVEKIT_URL, "
                        + "LIVEKIT_API_KEY and LIVEKIT_API_SECRET")
            }
            let loop = EventLoop(name: "agentctl-token")
            defer { loop.stop() }
            let details = try await TokenFetcher.fetch(
                source, try ConnectionOptions.request(settings), loop: loop,
                options: try ConnectionOptions.web(settings))
            try show(details, settings)
            return ExitCode.done
        } catch let error as UsageError {
            return TalkCommand.fail(error.description, code: ExitCode.usage)
        } catch let error as TokenError {
            return TalkCommand.fail(error.description, code: error.category.rawValue)
        } catch {
            return TalkCommand.fail("\(error)", code: SessionError.Category.internal.rawValue)
        }
    }

    private static func show(_ details: ConnectionDetails, _ settings: Settings) throws {
        let text = details.participantToken.value
        if settings.arguments.flags["print-token"] == true {
            Output.shared.writeLine(text)
            return
        }
        guard let token = JSONWebToken(decoding: text) else { return }
        if settings.arguments.flags["json"] == true {
            Output.shared.writeLine(TokenText.json(token, server: details.serverURL).line)
        } else {
            for line in TokenText.lines(token, server: details.serverURL, now: Date()) { Output.shared.writeLine(line) }
        }
    }
}

/// What a token says, for people and as JSON.
enum TokenText {
    static func lines(_ token: JSONWebToken, server: String, now: Date) -> [String] {
        var rows: [(String, String)] = [("server", server)]
        rows.append(("room", token.video?.room ?? "any"))
        rows.append(("identity", token.identity ?? "-"))
        if let name = token.name { rows.append(("name", name)) }
        if let kind = token.kind { rows.append(("kind", kind)) }
        rows.append(("issuer", token.issuer ?? "-"))
        if let start = token.notBefore { rows.append(("valid from", stamp(start))) }
        if let expiry = token.expiry {
            rows.append(("expires", "\(stamp(expiry)) (in \(span(expiry.timeIntervalSince(now))))"))
        }
        if let metadata = token.metadata { rows.append(("metadata", metadata)) }
        for (name, value) in token.attributes.sorted(by: { $0.key < $1.key }) {
            rows.append(("attribute", "\(name)=\(value)"))
        }
        for agent in token.agents { rows.append(("dispatches", agent.isEmpty ? "any agent" : agent)) }
        for (name, value) in (token.video?.all ?? [:]).sorted(by: { $0.key < $1.key }) where name != "room" {
            rows.append(("grant", "\(name)=\(value)"))
        }
        return rows.map { row in
            TerminalText.sanitized(row.0 + String(repeating: " ", count: max(1, 12 - row.0.count)) + row.1)
        }
    }

    static func json(_ token: JSONWebToken, server: String) -> JSONValue {
        func time(_ date: Date?) -> JSONValue { date.map { .integer(Int64($0.timeIntervalSince1970)) } ?? .null }
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        func strings(_ values: [String: String]) -> JSONValue {
            .object(values.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
        }
        return .object([
            ("schema", .integer(1)), ("server", .string(server)), ("issuer", text(token.issuer)),
            ("identity", text(token.identity)), ("name", text(token.name)), ("kind", text(token.kind)),
            ("metadata", text(token.metadata)), ("attributes", strings(token.attributes)),
            ("nbf", time(token.notBefore)), ("iat", time(token.issuedAt)), ("exp", time(token.expiry)),
            ("grants", strings(token.video?.all ?? [:])), ("agents", .array(token.agents.map(JSONValue.string))),
        ])
    }

    private static func stamp(_ date: Date) -> String {
        let formatter = ISO8601DateFormatter()
        return formatter.string(from: date)
    }

    private static func span(_ seconds: Double) -> String {
        let total = Int(seconds.rounded())
        if total < 120 { return "\(total) s" }
        if total < 7200 { return "\(total / 60) min" }
        return String(format: "%.1f h", Double(total) / 3600)
    }
}
