/// Settings of a client's connections.
public struct WebOptions: Sendable {
    /// Whether a server's certificate must be valid. Turned off, anyone on the path can read and change everything.
    public var tlsVerification = true
    /// A PEM file of the authorities to trust instead of the system's.
    public var caFile: String?
    /// The `User-Agent` header.
    public var userAgent: String
    /// The limit for name look-up, TCP, proxy, TLS and (WebSocket) the HTTP upgrade together.
    public var connectTimeout: Duration = .seconds(10)
    /// The largest body of an HTTP answer, in bytes, after content decoding.
    public var maxBodySize = 4 << 20
    /// The largest incoming WebSocket message, in bytes, however many frames it comes in.
    public var maxMessageSize = 2 << 20
    /// The most bytes that may wait to be sent on a WebSocket; a peer that reads too slowly for it is dropped.
    public var maxBufferedAmount = 16 << 20
    /// The interval of WebSocket pings; `nil` sends none.
    public var keepaliveInterval: Duration?
    /// A WebSocket from which nothing came for the interval and this long fails as timed out.
    public var keepaliveTimeout: Duration = .seconds(10)
    /// How long closing waits for the other side's close frame.
    public var closeTimeout: Duration = .seconds(1)

    public init(userAgent: String = "agentctl") {
        self.userAgent = userAgent
    }
}
