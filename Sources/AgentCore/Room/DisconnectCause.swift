public import LiveKitProtocol

/// Why a room connection could not be made or ended, in words for the user.
public enum DisconnectCause: Error, Sendable, Equatable, CustomStringConvertible {
    /// This program left.
    case clientInitiated
    /// The server ended the session.
    case server(DisconnectReason)
    /// The server ended the connection and asked for a new one (`leave` with action RESUME or RECONNECT).
    case serverAskedToReconnect(DisconnectReason)
    /// The URL is not one of a LiveKit server.
    case invalidURL(String)
    /// The server could not be reached, or does not speak the protocol.
    case unreachable(server: String, reason: String)
    /// The server refused the token.
    case unauthorized(server: String, status: Int, reason: String)
    /// The room does not exist and the token may not create it.
    case roomNotFound(server: String)
    /// The server refused the request for another reason.
    case rejected(server: String, status: Int, reason: String)
    /// A step did not finish in time.
    case timedOut(step: String, after: Duration)
    /// The signal connection was lost.
    case signalLost(reason: String)
    /// The media connection failed.
    case mediaFailed(reason: String)
    /// The connection was lost, and attempts to get it back failed; why the last one did.
    case notReconnected(attempts: Int, last: String)
    /// The server sent something that makes no sense here.
    case protocolViolation(String)

    public var description: String {
        switch self {
        case .clientInitiated: "left the room"
        case .server(let reason): Self.describe(reason)
        case .serverAskedToReconnect(.unknownReason): "the server asked to connect again"
        case .serverAskedToReconnect(let reason):
            "the server asked to connect again: \(Self.describe(reason))"
        case .invalidURL(let url):
            "\(url) is not the URL of a LiveKit server: use ws://, wss://, http:// or https://, a host, "
                + "and a port from 1 to 65535 if it needs one; no user, password or white space"
        case .unreachable(let server, let reason):
            "could not connect to \(server): \(reason)"
        case .unauthorized(let server, let status, let reason):
            "\(server) refused the token (\(status): \(reason)). Check that key, secret and room belong to this server "
                + "and that the token has not expired"
        case .roomNotFound(let server):
            "the room does not exist on \(server), and the token may not create it"
        case .rejected(let server, let status, let reason):
            "\(server) refused to let the session in (\(status): \(reason))"
        case .timedOut(let step, let after):
            "\(step) did not finish within \(Self.seconds(after)). Check the network and the server"
        case .signalLost(let reason): "the signal connection was lost: \(reason)"
        case .mediaFailed(let reason):
            "the media connection failed: \(reason). UDP may be blocked, or the server's TURN is unreachable"
        case .notReconnected(let attempts, let last):
            "the connection was lost and did not come back in \(attempts) attempts; the last one: \(last)"
        case .protocolViolation(let what): "the server broke the protocol: \(what)"
        }
    }

    /// The exit code category that the cause belongs to.
    public var category: SessionError.Category {
        switch self {
        case .invalidURL: .usage
        case .unauthorized: .authorization
        default: .connection
        }
    }

    static func seconds(_ duration: Duration) -> String {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
    }

    private static func describe(_ reason: DisconnectReason) -> String {
        switch reason {
        case .clientInitiated: "left the room"
        case .duplicateIdentity:
            "another participant joined with the same identity; give each session an identity of its own"
        case .serverShutdown: "the server is shutting down"
        case .participantRemoved: "the server removed this participant from the room"
        case .roomDeleted: "the room was deleted"
        case .stateMismatch: "the server no longer knows this session"
        case .joinFailure: "the server could not complete the join"
        case .migration: "the session moves to another server"
        case .signalClose: "the server closed the signal connection"
        case .roomClosed: "the room was closed"
        case .userUnavailable: "the callee is unavailable"
        case .userRejected: "the callee rejected the call"
        case .sipTrunkFailure: "the SIP trunk failed"
        case .connectionTimeout: "the server saw no connection in time"
        case .mediaFailure: "the server's media connection failed"
        case .agentError: "the agent failed"
        case .unknownReason: "the server ended the session without a reason"
        case .unrecognized(let number): "the server ended the session (reason \(number))"
        }
    }
}
