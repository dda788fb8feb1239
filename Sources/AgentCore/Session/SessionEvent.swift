public import LiveKitProtocol
public import LoopCore

/// Something that a session saw. Everything it saw is one ordered stream of these: the terminal, the JSON output,
/// reports and assertions are all consumers of that stream.
public struct SessionEvent: Sendable, Equatable {
    /// When it happened.
    public var time: MonotonicTime
    public var kind: Kind

    public init(time: MonotonicTime, kind: Kind) {
        self.time = time
        self.kind = kind
    }

    public enum Kind: Sendable, Equatable {
        /// The session began; the first event.
        case started
        /// A token is at hand. Holds no token.
        case tokenReceived(server: String, room: String?, identity: String?)
        /// The room is joined and media can flow.
        case connected(server: String, room: String, identity: String)
        /// An agent is active in the room.
        case agentJoined(identity: String)
        case agentLeft(identity: String, reason: String)
        case agentStateChanged(AgentState)
        /// The connection was lost; attempts to get it back follow.
        case connectionLost(reason: String)
        /// It is back after so long: the same session, or a new one in the same room.
        case reconnected(isNewSession: Bool, after: Duration)
        /// The connection took a step; ``RoomStateMachine/Step`` lists them.
        case connectionStep(RoomStateMachine.Transition)
        /// The server cannot be reached; another region of its service is tried.
        case regionChanged(server: String)
        /// The server moved this participant to another room.
        case roomMoved(room: String)
        /// How well a participant is connected, as the server rates it; this one or the agent.
        case connectionQualityChanged(identity: String, ConnectionQuality)
        /// Both sides' sound is being kept in that folder; the time is that of the recordings' first sample.
        case recordingStarted(directory: String)
        /// The agent was given what was said before it could hear: samples of 48 kHz, and how many before those had to
        /// be dropped. The live track goes on where they end.
        case preConnectAudioSent(frames: Int, droppedFrames: Int)
        /// The microphone was muted or unmuted.
        case microphoneMuted(Bool, by: MuteCause)
        /// The recorded speech starts to be sent.
        case inputStarted
        /// The user began to speak, as voice activity tells.
        case userSpeechStarted
        /// The last sample of the user's speech was sent.
        case userSpeechEnded
        /// The recording was sent to its end.
        case inputFinished
        /// The agent became audible.
        case agentAudioStarted
        /// The agent fell silent.
        case agentAudioEnded
        /// What either side said, as far as it is known.
        case transcript(TranscriptEvent)
        /// The agent called a tool of this side.
        case toolCalled(ToolCall)
        /// It was answered.
        case toolAnswered(ToolAnswer)
        /// The latency of a turn, known once the answer began.
        case turn(TurnLatency)
        /// Something to know that does not end the session.
        case warning(String)
        /// The session is over; the last event.
        case ended(SessionSummary, error: SessionError?)
    }

    /// Who muted or unmuted the microphone.
    public enum MuteCause: String, Sendable {
        case user, server, agent
    }
}
