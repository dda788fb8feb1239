public import LoopCore

/// An HTTP/1.1 server with WebSockets, for loopback and trusted networks, confined to the loop.
public final class HTTPServer {
    /// The port listened on (the one chosen by the system when 0 was asked for).
    public private(set) var port: UInt16 = 0

    /// Listens at once.
    /// - Throws: ``WebError/cannotListen(address:port:reason:)``.
    public init(
        loop: EventLoop, address: String = "127.0.0.1", port: UInt16 = 0, options: HTTPServerOptions = .init()
    ) throws(WebError) {}

    /// Answers the requests whose path is `prefix` or lies below it; the longest prefix wins.
    public func handle(path prefix: String, _ handler: @escaping (HTTPServerRequest, HTTPResponder) -> Void) {}

    /// Accepts WebSocket upgrades on exactly `path`.
    /// - Parameters:
    ///   - authorize: `nil` accepts; an answer refuses and is sent instead of the upgrade.
    ///   - accept: receives the open socket; set its `onEvent` before returning, and keep it.
    public func acceptWebSockets(
        path: String, authorize: @escaping (HTTPServerRequest) -> HTTPResponse? = { _ in nil },
        accept: @escaping (WebSocket, HTTPServerRequest) -> Void
    ) {}

    /// Stops listening and drops connections in the middle of a request. WebSockets already accepted live on.
    public func close() {}
}

/// Settings of an ``HTTPServer``.
public struct HTTPServerOptions: Sendable {
    /// The largest request body, in bytes; a larger one is answered with 413.
    public var maxBodySize = 1 << 20
    /// The largest incoming WebSocket message, in bytes.
    public var maxMessageSize = 2 << 20
    /// The most bytes that may wait to be sent on a WebSocket; a peer that reads too slowly for it is dropped.
    public var maxBufferedAmount = 16 << 20
    /// Connections beyond this many are dropped at once.
    public var maxConnections = 1024
    /// A connection on which nothing arrives for this long, while a request is expected, is dropped.
    public var idleTimeout: Duration = .seconds(30)
    /// PEM files of the certificate chain and the key; given, the server speaks TLS only.
    public var tls: TLSIdentity?

    public struct TLSIdentity: Sendable {
        public var certificateFile: String
        public var keyFile: String

        public init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    public init() {}
}
