/// One thing that the user of a scenario does or waits for.
public struct ScenarioStep: Sendable, Equatable {
    public enum Action: Sendable, Equatable {
        /// Speak when the agent has fallen silent.
        case speak(Speech)
        /// Speak while the agent does.
        case bargeIn(Speech, Moment)
        /// Send a message on `lk.chat`.
        case send(String)
        case wait(Wait)
        case pause(Duration)
        case mute(Bool)
        case hangUp
        /// Look at what came since the user's last turn.
        case expect([ScenarioExpectation])
    }

    /// What the user says.
    public struct Speech: Sendable, Equatable {
        public enum Source: Sendable, Equatable {
            /// Words for a synthesised voice.
            case words(String)
            /// A recording: its path, and the stretch of it.
            case file(String, from: Duration?, to: Duration?)
        }

        public var source: Source

        public init(_ source: Source) {
            self.source = source
        }
    }

    /// When to talk over the agent.
    public enum Moment: Sendable, Equatable {
        /// So long after it became audible.
        case after(Duration)
        /// When these words of its stand in the transcript.
        case on(String)
    }

    /// What to wait for. Each wait takes the next event of its kind since the user's last turn.
    public enum Wait: Sendable, Equatable {
        /// A whole answer: the agent spoke or wrote, and is quiet again.
        case reply
        case agentSpeech
        /// The agent has been silent for so long.
        case agentSilence(Duration)
        case state(AgentState)
        case transcript(TextCondition, speaker: ScenarioExpectation.Speaker, isFinal: Bool)
        case toolCall(ToolCondition)
        case participantJoined(String)
        case participantLeft(String)
        case agentLeft
    }

    public var action: Action
    public var place: ScenarioPlace
    /// How long the agent may take; nil for the default of the action.
    public var limit: Duration?

    public init(_ action: Action, at place: ScenarioPlace, limit: Duration? = nil) {
        self.action = action
        self.place = place
        self.limit = limit
    }
}

/// What a text has to be like.
public enum TextCondition: Sendable, Equatable {
    /// Every one of these, whatever the case of the letters.
    case contains([String])
    /// None of these.
    case lacks([String])
    /// A regular expression matches somewhere in it.
    case matches(String)
    /// The same words, with at most that share of them wrong (0...1).
    case words(String, errorRate: Double)
}

/// What a call of a tool has to be like.
public struct ToolCondition: Sendable, Equatable {
    public var name: String
    /// Members that the payload, a JSON object, has to have with these values; others may be there.
    public var arguments: JSONValue?

    public init(name: String, arguments: JSONValue? = nil) {
        self.name = name
        self.arguments = arguments
    }
}

/// Something that has to be true of a session, or of a turn of it.
public struct ScenarioExpectation: Sendable, Equatable {
    public enum Speaker: String, Sendable, CaseIterable { case agent, user }

    /// What of the session is looked at.
    public enum Scope: String, Sendable, CaseIterable {
        /// What came since the user last began to speak or wrote.
        case turn
        case session
    }

    public enum Kind: Sendable, Equatable {
        case text(TextCondition, speaker: Speaker)
        /// Upper bounds from the end of the user's speech (or from the message) to the first sound and word.
        case latency(firstAudio: Duration?, firstText: Duration?)
        /// The agent went through these states in this order; others may come between.
        case states([AgentState])
        /// The tool was called so often; nil for at least once.
        case toolCall(ToolCondition, times: Int?)
        /// The two sides never spoke at once for longer than that in all.
        case noOverlap(Duration)
        /// That side was heard for at least so long.
        case audible(Duration, speaker: Speaker)
        /// The agent fell silent so soon after the user began to talk over it.
        case stopsWithin(Duration)
    }

    public var kind: Kind
    public var scope: Scope
    public var place: ScenarioPlace

    public init(_ kind: Kind, scope: Scope, at place: ScenarioPlace) {
        self.kind = kind
        self.scope = scope
        self.place = place
    }
}
