/// STUN and TURN servers that share credentials, as in `RTCIceServer` of WebRTC and the `ice_servers` of a join.
public struct ICEServer: Sendable, Equatable {
    /// `stun:`, `turn:` and `turns:` URLs (RFC 7064, RFC 7065).
    public var urls: [String]
    /// The TURN user name; empty for STUN.
    public var username: String
    /// The TURN password; empty for STUN.
    public var credential: String

    public init(urls: [String], username: String = "", credential: String = "") {
        self.urls = urls
        self.username = username
        self.credential = credential
    }
}
