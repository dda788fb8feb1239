/// Faults that a ``SandboxServer`` injects, to test clients against. None by default; they can be changed while the
/// server runs and count from then on.
public struct SandboxFaults: Sendable, Equatable {
    /// How the token endpoints fail.
    public enum TokenFault: Sendable, Equatable {
        /// Refuse with this status and an explanation in JSON.
        case status(Int)
        /// Answer 200 with an HTML page, as a captive portal does.
        case html
        /// Answer 200 with JSON that lacks the token.
        case missingFields
    }

    /// A step of joining.
    public enum JoinStep: String, Sendable, Equatable, CaseIterable {
        /// The socket is open; nothing was sent.
        case beforeJoin
        case afterJoin
        /// The client's first offer is there and unanswered.
        case beforeAnswer
        case afterAnswer
    }

    public var token: TokenFault?
    /// How long the token endpoints take to answer.
    public var tokenDelay = Duration.zero
    /// Refuse signal connections with this status.
    public var signalStatus: Int?
    /// Answer 404 on `/rtc/v1`, as servers older than 1.9.2 do.
    public var refusesSinglePeerConnection = false
    /// How long the join response takes.
    public var joinDelay = Duration.zero
    /// Close the signal connection at this step.
    public var closesAt: JoinStep?
    /// Close without a close frame.
    public var closesAbruptly = false
    /// Do not answer pings.
    public var dropsPongs = false
    /// Send a frame that is no protobuf before the join response.
    public var sendsMalformedFrame = false
    /// Send a message of a kind that no client knows before the join response.
    public var sendsUnknownMessage = false
    /// No agent comes.
    public var withholdsAgent = false
    /// How much later than the user the agent comes.
    public var agentDelay = Duration.zero
    /// What happens to forwarded RTP.
    public var media = MediaImpairment()

    public init() {}
}

/// What happens to RTP packets that the server forwards.
public struct MediaImpairment: Sendable, Equatable {
    /// The share of packets that is lost, 0 to 1.
    public var loss = 0.0
    public var delay = Duration.zero
    /// Each packet takes up to this much longer, at random; packets may overtake each other.
    public var jitter = Duration.zero
    /// The same seed loses the same packets.
    public var seed: UInt64 = 1

    public init() {}

    var isNone: Bool { loss <= 0 && delay <= .zero && jitter <= .zero }
}
