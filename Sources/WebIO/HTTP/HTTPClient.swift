public import LoopCore

/// An HTTP/1.1 and HTTP/2 client (libsoup), confined to the loop.
public final class HTTPClient {
    private let loop: EventLoop
    private let options: WebOptions

    public init(loop: EventLoop, options: WebOptions = .init()) {
        self.loop = loop
        self.options = options
    }

    /// Sends `request` and calls `completion` once, on the loop, never from inside this call. Redirects are not
    /// followed: a 3xx answer is an answer.
    /// - Parameter timeout: the limit for the whole exchange.
    @discardableResult
    public func send(
        _ request: HTTPRequest, timeout: Duration, completion: @escaping (Result<HTTPResponse, WebError>) -> Void
    ) -> HTTPCall {
        HTTPCall()
    }
}

/// A request in flight, confined to the loop. It goes on when the reference is dropped.
public final class HTTPCall {
    /// Ends the call: its completion receives ``WebError/cancelled``. Harmless when the call is over.
    public func cancel() {}
}
