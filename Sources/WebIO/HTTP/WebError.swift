import LoopCore

/// Why a request or a connection failed. Descriptions name the host and never hold a URL's query (it may carry a token).
public enum WebError: Error, Sendable, Equatable {
    /// The URL cannot be used; the text says why.
    case invalidURL(String)
    /// No address is known for the host.
    case cannotResolve(host: String)
    /// The host answered, but nothing listens on the port.
    case connectionRefused(host: String, port: UInt16)
    /// No route to the host, or the network is down.
    case unreachable(host: String, port: UInt16, reason: String)
    /// The proxy refused or failed.
    case proxy(reason: String)
    /// The secure connection was refused by this side; `reason` says which check failed.
    case tls(host: String, reason: String)
    /// `what` was not done in time.
    case timedOut(_ what: String, after: Duration)
    /// The peer closed the connection before the exchange was complete; the text says during what.
    case connectionClosed(String)
    /// An answer or a message is larger than `limit` bytes.
    case tooLarge(limit: Int)
    /// The peer sent something that is not HTTP, or not WebSocket (RFC 6455).
    case malformed(String)
    /// The server answered a WebSocket upgrade with something else than 101; the answer holds status and body.
    case handshake(HTTPResponse)
    /// The address cannot be listened on.
    case cannotListen(address: String, port: UInt16, reason: String)
    /// Cancelled by this side.
    case cancelled
    /// Anything else.
    case other(String)
}

extension WebError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidURL(let reason):
            reason
        case .cannotResolve(let host):
            "no address found for host \(host): check the name, and that DNS works"
        case .connectionRefused(let host, let port):
            "\(host) refused the connection on port \(port): check that the server runs and the port is right"
        case .unreachable(let host, let port, let reason):
            "cannot reach \(host) port \(port) (\(reason)): check the network and the address"
        case .proxy(let reason):
            "the proxy failed (\(reason)): check http_proxy, https_proxy and no_proxy"
        case .tls(let host, let reason):
            "no secure connection with \(host): \(reason)"
        case .timedOut(let what, let duration):
            "\(what) took longer than \(seconds(duration)): check the network, or try again"
        case .connectionClosed(let what):
            "the connection was closed by the other side \(what): check the URL, the port and that the server runs"
        case .tooLarge(let limit):
            "the other side sent more than the limit of \(limit) bytes"
        case .malformed(let reason):
            "the other side broke the protocol: \(reason)"
        case .handshake(let response):
            handshakeDescription(response)
        case .cannotListen(let address, let port, let reason):
            "cannot listen on \(address) port \(port) (\(reason)): choose another address or port"
        case .cancelled:
            "cancelled"
        case .other(let reason):
            reason
        }
    }

    /// Whether trying again later may help: false for mistakes in the request and for refused certificates.
    public var isTransient: Bool {
        switch self {
        case .connectionRefused, .unreachable, .timedOut, .connectionClosed, .proxy, .cannotResolve: true
        case .handshake(let response): response.status == 429 || response.status >= 500
        default: false
        }
    }
}

private func handshakeDescription(_ response: HTTPResponse) -> String {
    let text = printable(response.text.split(separator: "\n").first.map(String.init) ?? "", limit: 200)
    let answer = text.isEmpty ? "" : ": \(text)"
    return "the server answered the WebSocket upgrade with HTTP status \(response.status)\(answer)"
}

/// `1.5 s`, `10 s`.
private func seconds(_ duration: Duration) -> String {
    let tenths = (duration.milliseconds / 100).rounded()
    return tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10)) s" : "\(tenths / 10) s"
}
