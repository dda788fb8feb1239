/// How an ``ICETransport`` gathers candidates and when it gives up.
struct ICEConfiguration: Sendable {
    var servers: [ICEServer] = []
    /// Only relayed candidates are gathered and used.
    var relayOnly = false
    /// Gather ICE-TCP candidates (RFC 6544) as well, active and passive.
    var enableTCP = true
    /// Gather on 127.0.0.1 only.
    var loopbackOnly = false
    /// Gather on 127.0.0.1 beside the other addresses. It is always gathered when there is no other address.
    var includeLoopback = true
    /// How long host names of STUN and TURN servers may take to resolve before gathering starts without them.
    var resolveTimeout: Duration = .milliseconds(1500)
    /// A PEM file of the authorities that certificates of `turns:` servers are checked against; nil for the system's.
    var turnAuthoritiesFile: String?
    /// How long checks may go on without any pair working.
    var connectTimeout: Duration = .seconds(30)
    /// How long a lost connection may take to come back.
    var disconnectedTimeout: Duration = .seconds(5)
}
