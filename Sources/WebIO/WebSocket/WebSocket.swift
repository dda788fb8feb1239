public import LoopCore

/// One WebSocket (RFC 6455), of a client or of an ``HTTPServer``, confined to the loop. Dropping it aborts it, unless
/// it is closing.
public final class WebSocket {
    /// What happened; `closed` or `failed` comes exactly once, last.
    public enum Event: Sendable {
        /// The handshake is done (client only); the server's headers.
        case opened(HTTPHeaders)
        case binary([UInt8])
        case text(String)
        /// Closed in order. The peer's code, 1005 when its close frame had none, or our own when it did not answer.
        case closed(code: Int, reason: String)
        case failed(WebError)
    }

    /// Called on the loop, never from inside a call to this object.
    public var onEvent: ((Event) -> Void)?

    init() {}

    /// Connects to a `ws` or `wss` URL (`http` and `https` are taken as well).
    public static func connect(
        loop: EventLoop, url: String, headers: HTTPHeaders = .init(), options: WebOptions = .init(),
        onEvent: @escaping (Event) -> Void
    ) -> WebSocket {
        WebSocket()
    }

    /// Queues a message. Ignored before `opened` and once closing.
    public func send(binary: [UInt8]) {}

    /// Queues a message. Ignored before `opened` and once closing.
    public func send(text: String) {}

    /// Sends a close frame after what is queued; `closed` follows within `closeTimeout`. Before `opened` it cancels.
    /// - Parameters:
    ///   - code: 1000...1014 or 3000...4999 (RFC 6455, section 7.4).
    ///   - reason: at most 123 bytes are sent.
    public func close(code: Int = 1000, reason: String = "") {}

    /// Drops the connection without a close frame. No event follows.
    public func abort() {}

    /// Bytes queued and not yet taken by the operating system.
    public var bufferedAmount: Int { 0 }
}
