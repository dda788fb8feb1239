/// What a ``ScriptedAgent`` says and how it behaves.
public struct AgentScript: Sendable, Equatable {
    /// One exchange: what the user is expected to say, and the answer.
    public struct Turn: Sendable, Equatable {
        /// The words that the agent transcribes; it does not really recognise speech.
        public var expect: String
        public var reply: String
        /// How long it thinks before it answers.
        public var think: Duration

        public init(expect: String, reply: String, think: Duration = .milliseconds(200)) {
            self.expect = expect
            self.reply = reply
            self.think = think
        }
    }

    public var identity = "agent-sandbox"
    public var name = "Sandbox agent"
    /// The name by which tokens dispatch it; empty for an agent that comes to every room.
    public var agentName = ""
    public var voice = AgentVoice()
    /// Said as soon as the user can hear it; empty for none.
    public var greeting = ""
    /// Play back what the user said instead of answering.
    public var echoes = false
    /// Spoken turns, in order; chat messages may pick any.
    public var turns: [Turn] = []
    /// The answer when no turn is left.
    public var fallback = "Sorry, I have nothing more to say."
    /// What is transcribed when no turn is left.
    public var fallbackTranscript = "(speech)"
    /// The user's turn ends after so long a silence.
    public var endOfTurn = Duration.milliseconds(600)
    /// Stop talking when the user does.
    public var allowsInterruption = true
    /// Also send the legacy Transcription packets, as LiveKit's agents do.
    public var sendsLegacyTranscription = true

    public init() {}

    /// Turns whose text is longer are refused, in characters.
    static let maximumText = 4000
    static let maximumTurns = 1000
}
