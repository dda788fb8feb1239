public import AudioPipeline

/// Everything a voice session needs to know before it starts.
public struct SessionConfiguration: Sendable {
    /// Where the server's URL and the token come from.
    public var tokenSource: TokenSourceConfiguration
    /// What to ask the token source for.
    public var tokenRequest: TokenRequest
    /// How to join and what to allow.
    public var room: Room.Options
    /// The recorded speech to say: any file libsndfile reads, any rate, mono or more.
    public var input: String
    /// Silence before the recorded speech. The track is live from the moment it is published, so this only adds to
    /// what the agent hears in between.
    public var leadIn: Duration = .milliseconds(200)
    /// Silence that belongs to the recording's end, before the wait for the answer starts.
    public var trailingSilence: Duration = .milliseconds(800)
    /// Where to keep what the agent says, as 48 kHz mono 16-bit WAV; nil keeps nothing.
    public var output: String?
    /// How to encode what is said.
    public var encoder = OpusEncoder.Options()
    /// Whether to send redundant audio (RFC 2198) where the server takes it.
    public var redundantAudio = true
    /// When to speak and how long to wait for the agent.
    public var limits = TurnTaker.Limits()

    public init(tokenSource: TokenSourceConfiguration, tokenRequest: TokenRequest, room: Room.Options, input: String) {
        self.tokenSource = tokenSource
        self.tokenRequest = tokenRequest
        self.room = room
        self.input = input
    }
}
