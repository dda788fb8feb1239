/// What a ``ScriptedAgent`` has seen and done so far.
public struct AgentReport: Sendable, Equatable {
    /// The user that it talks with.
    public var user: String?
    /// Opus frames of the user that arrived, redundant copies not counted.
    public var receivedFrames = 0
    /// Audio of the user that was played out, in samples of 48 kHz, silence included.
    public var heardSamples = 0
    /// Where speech was in it.
    public var speech: [Speech] = []
    /// The loudest 20 ms, dBov.
    public var peakLevel = -127.0
    /// Frames that were made up because they were lost or late.
    public var concealedFrames = 0
    public var chatMessages: [String] = []
    /// What it said, complete or not.
    public var replies: [String] = []
    /// How often the user talked over it.
    public var interruptions = 0
    /// Opus frames sent.
    public var sentFrames = 0
    public var rpcRequests = 0
    public var preConnectBuffers: [PreConnectBuffer] = []

    /// A stretch of speech, in samples from the start of what was heard.
    public struct Speech: Sendable, Equatable {
        public var start: Int
        public var end: Int
    }

    /// Audio that the user recorded before the agent was there.
    public struct PreConnectBuffer: Sendable, Equatable {
        public var trackSid: String
        public var sampleRate: Int
        public var channels: Int
        public var bytes: Int
        /// What was recorded, at that rate, mono; at most 60 s.
        public var samples: [Int16] = []
    }

    /// Entries of each list kept at most.
    static let maximumEntries = 1000

    public init() {}
}
