/// Settings of an ``HTTPServer``.
public struct HTTPServerOptions: Sendable {
    /// The largest request body, in bytes; a larger one is answered with 413.
    public var maxBodySize = 1 << 20
    /// The largest incoming WebSocket message, in bytes.
    public var maxMessageSize = 2 << 20
    /// The most bytes that may wait to be sent on a WebSocket; a peer that reads too slowly for it is dropped.
    public var maxBufferedAmount = 16 << 20
    /// The interval of WebSocket pings; `nil` sends none.
    public var keepaliveInterval: Duration?
    /// A WebSocket from which nothing came for the interval and this long fails as timed out.
    public var keepaliveTimeout: Duration = .seconds(10)
    /// Connections beyond this many are dropped at once.
    public var maxConnections = 1024
    /// A connection on which nothing arrives for this long, while a request is expected, is dropped.
    public var idleTimeout: Duration = .seconds(30)
    /// Given, the server speaks TLS only.
    public var tls: TLSIdentity?

    /// PEM files of a certificate chain and its key.
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
