/// Settings of a ``SandboxServer``.
public struct SandboxConfiguration: Sendable {
    /// The IP address to listen on; media uses loopback only when this is a loopback address.
    public var address = "127.0.0.1"
    /// 0 for a free port.
    public var port: UInt16 = 0
    /// The key that tokens are minted and checked with; as `livekit-server --dev`.
    public var apiKey = "devkey"
    public var apiSecret = "secret"
    /// The only sandbox id that the token endpoints know; nil accepts any.
    public var sandboxID: String?
    /// Lifetime of minted tokens.
    public var tokenLifetime = Duration.seconds(6 * 3600)
    /// What the agent says; nil for a server without an agent.
    public var agent: AgentScript? = .default
    public var faults = SandboxFaults()
    /// What clients are told: seconds between pings, and seconds without an answer after which a connection is dead.
    public var pingInterval = 5
    public var pingTimeout = 15
    /// How long a participant whose signal connection was lost may come back.
    public var resumeWindow = Duration.seconds(15)
    /// How long agents may be alone in a room before it is closed.
    public var departureTimeout = Duration.seconds(20)
    /// How long a participant may take to get its media connection up.
    public var joinTimeout = Duration.seconds(60)
    /// Offer ICE-TCP candidates too.
    public var enablesTCP = false
    public var maxRooms = 256
    /// Per room.
    public var maxParticipants = 128
    /// Receives what happens, a line each; never a token.
    public var log: (@Sendable (String) -> Void)?

    public init() {}

    var isLoopback: Bool { address.hasPrefix("127.") || address == "::1" }
}
