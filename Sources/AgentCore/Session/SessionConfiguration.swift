public import AudioPipeline

/// Everything a voice session needs to know before it starts.
public struct SessionConfiguration: Sendable {
    /// Where the user's side of the conversation comes from.
    public enum Input: Sendable {
        /// A recording: any file libsndfile reads, any rate, mono or more. It is said when the agent listens, and the
        /// session ends when the agent has answered.
        case file(String)
        /// The same through a pipe, FIFO or socket that is open for reading, paced to real time; `name` is for
        /// messages. The descriptor stays open.
        case stream(descriptor: Int32, name: String, format: StreamReader.Format)
        /// A microphone. It captures from the moment it was opened, so open it first of all.
        case microphone(CaptureDevice)
        /// A sine tone of so many Hz at so many dB below full scale.
        case tone(frequency: Double, level: Double)
        case silence
        /// What the program itself pushes; what is missing in real time is silence.
        case manual(ManualAudio)

        /// Whether it has an end that the session waits for, with the agent's answer to it.
        var isRecording: Bool {
            switch self {
            case .file, .stream: true
            case .microphone, .tone, .silence, .manual: false
            }
        }

        /// Whether somebody speaks live.
        public var isLive: Bool { if case .microphone = self { true } else { false } }
    }

    /// Where the agent's sound is kept or goes.
    public enum Output: Sendable {
        /// A 48 kHz mono 16-bit WAV file.
        case file(String)
        /// A pipe, FIFO or socket that is open for writing, as 48 kHz mono 16-bit WAV or raw PCM.
        case stream(descriptor: Int32, name: String, isWAV: Bool)
        /// What the program itself pulls.
        case manual(ManualAudio)
    }

    /// Where the server's URL and the token come from.
    public var tokenSource: TokenSourceConfiguration
    /// What to ask the token source for.
    public var tokenRequest: TokenRequest
    /// How to join and what to allow.
    public var room: Room.Options
    public var input: Input
    /// Silence before the recorded speech. The track is live from the moment it is published, so this only adds to
    /// what the agent hears in between.
    public var leadIn: Duration = .milliseconds(200)
    /// Silence that belongs to the recording's end, before the wait for the answer starts.
    public var trailingSilence: Duration = .milliseconds(800)
    /// Where to keep what the agent says; nil keeps nothing.
    public var output: Output?
    /// Where to play what the agent says; nil plays nothing.
    public var speaker: PlaybackDevice?
    /// How to clean the user's signal; nil leaves it as it is.
    public var processing: VoiceProcessor.Options?
    /// How much of what is said before the agent can hear is kept for it; nil keeps nothing. Recordings wait for the
    /// agent anyway.
    public var preConnectBuffer: Duration? = .seconds(10)
    /// A file that is mixed into the user's signal, over and over, and its gain in dB.
    public var mix: (path: String, gain: Double)?
    /// A folder to keep both sides' sound and every event in; nil keeps nothing.
    public var recordDirectory: String?
    /// Whether the microphone starts muted.
    public var isMuted = false
    /// After so long a conversation without a recording ends; nil lets it go on until it is ended.
    public var duration: Duration?
    /// How to encode what is said.
    public var encoder = OpusEncoder.Options()
    /// Whether the encoder's expected loss follows what the receiver reports.
    public var adaptsToLoss = true
    /// Whether to send redundant audio (RFC 2198) where the server takes it.
    public var redundantAudio = true
    /// Methods that the agent may call.
    public var tools: [ClientTool] = []
    /// When to speak and how long to wait for the agent.
    public var limits = TurnTaker.Limits()

    public init(tokenSource: TokenSourceConfiguration, tokenRequest: TokenRequest, room: Room.Options, input: Input) {
        self.tokenSource = tokenSource
        self.tokenRequest = tokenRequest
        self.room = room
        self.input = input
    }

    var keepsPreConnectAudio: Bool {
        if case .microphone = input { return preConnectBuffer != nil }
        if case .manual = input { return preConnectBuffer != nil }
        return false
    }
}
