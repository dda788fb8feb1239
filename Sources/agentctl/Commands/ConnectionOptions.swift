import AgentCore
import Foundation
import LoopCore
import WebIO

/// The options by which commands find a server and a token.
enum ConnectionOptions {
    static let source = CommandSpec.Group(
        title: "Server and token",
        options: [
            .value(
                "url", "URL", environment: "LIVEKIT_URL", config: "url",
                "server to join: ws://, wss://, http:// or https://"),
            .value("token", "JWT", environment: "LIVEKIT_TOKEN", "token to join with"),
            .value(
                "sandbox", "ID", environment: "LIVEKIT_SANDBOX_ID", config: "sandbox",
                "token server of a LiveKit Cloud sandbox"),
            .value(
                "sandbox-url", "URL", config: "sandbox_url", defaultText: TokenSourceConfiguration.cloudBaseURL,
                "base URL of the sandbox token server"),
            .value(
                "token-endpoint", "URL", environment: "LIVEKIT_TOKEN_ENDPOINT", config: "token_endpoint",
                "token server with the standard contract"),
            .value(
                "token-method", "METHOD", config: "token_method", defaultText: "POST",
                "HTTP method for --token-endpoint"),
            .value("token-header", "NAME:VALUE", repeats: true, "header for --token-endpoint; may be repeated"),
            .value(
                "api-key", "KEY", environment: "LIVEKIT_API_KEY", config: "api_key",
                "key to make a token with; needs the secret"),
            .value(
                "api-secret-file", "FILE", config: "api_secret_file", completion: .file,
                "file with the secret; LIVEKIT_API_SECRET is the other way"),
            .value("ttl", "SECONDS", config: "ttl", defaultText: "21600", "lifetime of a token that is made here"),
        ])

    static let participant = CommandSpec.Group(
        title: "Room and participant",
        options: [
            .value("room", "NAME", environment: "LIVEKIT_ROOM", config: "room", "room to join; a new one by default"),
            .value(
                "identity", "ID", environment: "LIVEKIT_IDENTITY", config: "identity",
                "identity to join as; a new one by default"),
            .value("name", "NAME", config: "name", "display name"),
            .value("metadata", "TEXT", "participant metadata"),
            .value("attribute", "NAME=VALUE", repeats: true, "participant attribute; may be repeated"),
            .value(
                "agent", "NAME", environment: "LIVEKIT_AGENT_NAME", config: "agent", "agent to dispatch into the room"),
            .value("agent-metadata", "TEXT", config: "agent_metadata", "what the dispatched agent is given"),
        ])

    static let network = CommandSpec.Group(
        title: "Network",
        options: [
            .flag("insecure", config: "insecure", "do not check TLS certificates"),
            .value(
                "ca-file", "FILE", environment: "SSL_CERT_FILE", config: "ca_file", completion: .file,
                "certificate authorities to trust, PEM"),
        ])

    static func web(_ settings: Settings) throws(UsageError) -> WebOptions {
        var options = WebOptions(userAgent: "agentctl/" + agentctlVersion)
        if try settings.flag("insecure") == true { options.tlsVerification = false }
        options.caFile = try settings.string("ca-file")
        return options
    }

    static func request(_ settings: Settings) throws(UsageError) -> TokenRequest {
        var request = TokenRequest()
        request.roomName = try settings.string("room")
        request.participantIdentity = try settings.string("identity")
        request.participantName = try settings.string("name")
        request.participantMetadata = try settings.string("metadata")
        request.agentName = try settings.string("agent")
        request.agentMetadata = try settings.string("agent-metadata")
        if request.agentMetadata != nil, request.agentName == nil {
            throw UsageError(description: "--agent-metadata needs --agent")
        }
        for (name, value) in try settings.pairs("attribute") { request.participantAttributes[name] = value }
        return request
    }

    /// The token source that the settings name; nil when they name none. What the command line says goes before what
    /// the environment and the file say.
    static func source(_ settings: Settings) throws(UsageError) -> TokenSourceConfiguration? {
        let names = ["token", "token-endpoint", "sandbox", "api-key"]
        let given = names.filter { settings.arguments.values[$0] != nil }
        if given.count > 1 {
            throw UsageError(description: "--\(given[0]) and --\(given[1]) are two sources of a token; give one")
        }
        for name in given + names {
            if let source = try source(name, settings) { return source }
        }
        guard let url = try settings.string("url") else { return nil }
        throw UsageError(
            description:
                "no token for \(url.split(separator: "?").first ?? ""). Give --token, --token-endpoint or --sandbox, or "
                + "set LIVEKIT_API_KEY and LIVEKIT_API_SECRET")
    }

    private static func source(_ name: String, _ settings: Settings) throws(UsageError) -> TokenSourceConfiguration? {
        guard let value = try settings.string(name) else { return nil }
        switch name {
        case "token":
            guard let url = try settings.string("url") else {
                throw UsageError(description: "a token needs its server: give --url or set LIVEKIT_URL")
            }
            return .literal(url: url, token: AccessToken(value))
        case "token-endpoint":
            let headers = try settings.pairs("token-header", separator: ":")
            return .endpoint(url: value, method: try settings.string("token-method") ?? "POST", headers: headers)
        case "sandbox":
            return .sandbox(
                id: value, baseURL: try settings.string("sandbox-url") ?? TokenSourceConfiguration.cloudBaseURL)
        default:
            guard let url = try settings.string("url") else {
                throw UsageError(description: "a key needs its server: give --url or set LIVEKIT_URL")
            }
            let lifetime = try settings.integer("ttl", in: 1...31_536_000, unit: "seconds") ?? 21_600
            let minter = TokenMinter(apiKey: value, apiSecret: try secret(settings))
            return .local(url: url, minter: minter, lifetime: .seconds(lifetime))
        }
    }

    /// The secret never stands on a command line, where every user of the machine could read it.
    private static func secret(_ settings: Settings) throws(UsageError) -> String {
        if let path = try settings.string("api-secret-file") {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw UsageError(description: "the file \(path) of --api-secret-file cannot be read")
            }
            let secret = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !secret.isEmpty else {
                throw UsageError(description: "the file \(path) of --api-secret-file is empty")
            }
            return secret
        }
        guard let secret = settings.environment["LIVEKIT_API_SECRET"], !secret.isEmpty else {
            throw UsageError(description: "the key has no secret: set LIVEKIT_API_SECRET or give --api-secret-file")
        }
        return secret
    }
}
