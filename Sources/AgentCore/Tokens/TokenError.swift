public import WebIO

/// Why there is no token, in words that say what to do next; never holds a token or a secret.
public enum TokenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The endpoint could not be reached.
    case unreachable(endpoint: String, WebError)
    /// 401 or 403.
    case refused(endpoint: String, status: Int, reason: String)
    /// 404 of the sandbox endpoint.
    case unknownSandbox(id: String)
    case notFound(endpoint: String)
    /// 429, and the time to wait that the server asks for.
    case rateLimited(endpoint: String, retryAfter: Duration?)
    /// 5xx, after retries.
    case serverFailure(endpoint: String, status: Int, attempts: Int)
    case unexpectedStatus(endpoint: String, status: Int, reason: String)
    /// A page instead of JSON.
    case notJSON(endpoint: String, isHTML: Bool)
    case missingField(endpoint: String, field: String)
    case expired(secondsAgo: Int, clockSkew: Int?)
    case notYetValid(secondsAhead: Int, clockSkew: Int?)
    /// Something else stands where a token belongs.
    case notAToken(String)
    case noJoinGrant
    case invalidURL(String)
    case invalidConfiguration(String)
    case timedOut(endpoint: String, after: Duration)

    public var description: String {
        switch self {
        case .unreachable(let endpoint, let error):
            "no token from \(endpoint): \(error.description). Check the URL and the network"
        case .refused(let endpoint, let status, let reason):
            "\(endpoint) refused to give a token (\(status): \(reason)). Check the credentials or headers it expects"
        case .unknownSandbox(let id):
            "the sandbox \(id) does not exist. Check LIVEKIT_SANDBOX_ID or --sandbox against the sandbox's page in "
                + "LiveKit Cloud"
        case .notFound(let endpoint): "\(endpoint) does not exist (404). Check the path of the token endpoint"
        case .rateLimited(let endpoint, let wait):
            "\(endpoint) is asked too often (429). Try again \(wait.map { "in \(DisconnectCause.seconds($0))" } ?? "later")"
        case .serverFailure(let endpoint, let status, let attempts):
            "\(endpoint) failed with \(status), \(attempts) times in a row. Its operator has to look into it; try later"
        case .unexpectedStatus(let endpoint, let status, let reason):
            "\(endpoint) answered \(status) (\(reason)) instead of a token. Check what the endpoint expects"
        case .notJSON(let endpoint, let isHTML):
            "\(endpoint) answered with \(isHTML ? "a web page" : "text") instead of JSON. Check that the URL is the "
                + "token endpoint, and that no login page of the network is in between"
        case .missingField(let endpoint, let field):
            "the answer of \(endpoint) has no \(field). It has to be JSON with server_url and participant_token"
        case .expired(let seconds, let skew):
            "the token expired \(seconds) s ago\(Self.skew(skew)). Get a new one"
        case .notYetValid(let seconds, let skew):
            "the token is valid only in \(seconds) s\(Self.skew(skew)). Check the clocks of this machine and of the one "
                + "that made it"
        case .notAToken(let what): what
        case .noJoinGrant:
            "the token does not allow joining a room (no video.roomJoin). Get one with that grant"
        case .invalidURL(let url):
            "\(url) cannot be used: give a server as ws://, wss://, http:// or https://, a token endpoint as http:// or "
                + "https://"
        case .invalidConfiguration(let what): what
        case .timedOut(let endpoint, let limit):
            "\(endpoint) gave no token within \(DisconnectCause.seconds(limit)). Try later"
        }
    }

    private static func skew(_ seconds: Int?) -> String {
        guard let seconds, abs(seconds) > 30 else { return "" }
        return " (this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the server's)"
    }

    /// The exit code category that the error belongs to.
    public var category: SessionError.Category {
        switch self {
        case .invalidURL, .invalidConfiguration: .usage
        case .unreachable, .timedOut: .connection
        default: .authorization
        }
    }

    /// Whether the same request may succeed a little later.
    public var isRetryable: Bool {
        switch self {
        case .rateLimited, .serverFailure, .timedOut: true
        case .unreachable(_, let error): error.isTransient
        default: false
        }
    }
}
