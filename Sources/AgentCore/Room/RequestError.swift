public import LiveKitProtocol

/// Why a request to the server, such as ``Room/updateAttributes(_:completion:)``, came to nothing.
public enum RequestError: Error, Sendable, Equatable, CustomStringConvertible {
    case refused(RequestResponse.Reason, message: String)
    case timedOut(after: Duration)
    /// Too many requests wait for their answers.
    case tooMany(limit: Int)
    /// The session ended before the answer came.
    case disconnected

    public var description: String {
        switch self {
        case .refused(let reason, let message):
            "the server refused the request: \(message.isEmpty ? reason.protoName : message)"
        case .timedOut(let after): "the server did not answer the request within \(DisconnectCause.seconds(after))"
        case .tooMany(let limit): "\(limit) requests wait for their answers; wait for one of them first"
        case .disconnected: "the session ended before the server answered the request"
        }
    }
}
