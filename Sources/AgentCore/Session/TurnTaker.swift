public import LoopCore

/// Decides, from what the agent does, when a recorded user may speak and when the agent's answer is complete.
///
/// A pure state machine: inputs and the time go in, at most one decision comes out. It is driven by events as they
/// happen and by ``tick(now:)`` often enough for its limits (50 ms is plenty).
public struct TurnTaker: Sendable {
    /// The time limits; each starts when its wait starts.
    public struct Limits: Sendable, Equatable {
        /// From the start of the session's wait to an agent that is active in the room.
        public var agentJoin: Duration = .seconds(20)
        /// How long a joined agent may stay `initializing`, or speak its greeting, before the user speaks anyway.
        public var agentReady: Duration = .seconds(20)
        /// How long the agent must have been quiet before the user speaks.
        public var settle: Duration = .milliseconds(400)
        /// How long to wait for the agent to subscribe to the user's track before speaking anyway.
        public var subscription: Duration = .seconds(3)
        /// From the end of the user's speech to the first sound or word of the answer.
        public var reply: Duration = .seconds(30)
        /// How long the agent must have been quiet for its answer to be complete. Agents pass through `listening`
        /// between two phases of one answer, so this is longer than ``settle``.
        public var replySettle: Duration = .milliseconds(1200)
        /// The longest answer that is waited for.
        public var replyLength: Duration = .seconds(300)

        public init() {}
    }

    /// What the agent or the session did.
    public enum Input: Sendable, Equatable {
        /// The microphone track is published, or nothing is to be published: the wait for the agent starts.
        case ready
        /// An agent is active in the room.
        case agentJoined
        /// The agent left the room.
        case agentLeft
        /// The agent's `lk.agent.state` changed.
        case agentState(AgentState)
        /// The agent subscribed to the user's track.
        case microphoneSubscribed
        /// The agent's audio became audible (`true`) or silent (`false`).
        case agentAudible(Bool)
        /// A word of the agent arrived as text.
        case agentText
        /// Speech in the user's recording ended at that time; there may be more.
        case userSpeechEnded(at: MonotonicTime)
        /// The user's recording has been sent to its end.
        case inputFinished
    }

    /// What the session has to do.
    public enum Decision: Sendable, Equatable {
        /// Start sending the recorded speech.
        case speak
        /// The agent answered and is quiet again.
        case complete
        /// The agent did not do its part.
        case fail(Failure)
    }

    /// How an agent can fail a session.
    public enum Failure: Sendable, Equatable {
        case agentDidNotJoin(after: Duration)
        case agentLeft
        case noReply(after: Duration)
    }

    /// Where the conversation stands.
    public enum Phase: Sendable, Equatable {
        case starting
        case awaitingAgent(since: MonotonicTime)
        case settling(since: MonotonicTime)
        case speaking
        case awaitingReply(since: MonotonicTime)
        case hearingReply(since: MonotonicTime)
        /// An open conversation: neither side is waited for.
        case conversing
        case over
    }

    public let limits: Limits
    public private(set) var phase: Phase = .starting
    private var agentPresent = false
    private var agentState: AgentState?
    private var audible = false
    private var subscribed = false
    private var quietSince: MonotonicTime?
    private var lastAnswer: MonotonicTime?
    private var lastSpeechEnd: MonotonicTime?

    private let isRecording: Bool

    /// - Parameter isRecording: whether the user is a recording that waits for its turn, or somebody who speaks as they
    ///   like; then only the agent's coming and going counts.
    public init(limits: Limits = Limits(), isRecording: Bool = true) {
        self.limits = limits
        self.isRecording = isRecording
    }

    /// Takes what happened at `now`; the decision is to be carried out at once.
    public mutating func handle(_ input: Input, now: MonotonicTime) -> Decision? {
        switch input {
        case .ready:
            if phase == .starting { phase = .awaitingAgent(since: now) }
        case .agentJoined:
            agentPresent = true
        case .agentLeft:
            agentPresent = false
            agentState = nil
            audible = false
            if case .hearingReply = phase { return finish(.complete) }
            // Hanging up is one way to end a conversation, if there was one.
            if phase == .conversing { return finish(lastAnswer == nil ? .fail(.agentLeft) : .complete) }
            switch phase {
            case .starting, .awaitingAgent, .over: break
            default: return finish(.fail(.agentLeft))
            }
        case .agentState(let state):
            agentState = state
        case .microphoneSubscribed:
            subscribed = true
        case .agentAudible(let isAudible):
            audible = isAudible
            if isAudible { lastAnswer = now }
        case .userSpeechEnded(let time):
            lastSpeechEnd = time
        case .agentText:
            lastAnswer = now
            if case .awaitingReply = phase { phase = .hearingReply(since: now) }
        case .inputFinished:
            guard phase == .speaking else { break }
            // A recording may end in a silence that is longer than the answer.
            let isAnswered = lastAnswer.map { answer in lastSpeechEnd.map { answer >= $0 } ?? false } ?? false
            phase = isAnswered ? .hearingReply(since: now) : .awaitingReply(since: now)
        }
        updateQuiet(now: now)
        return tick(now: now)
    }

    /// Checks the limits against `now`.
    public mutating func tick(now: MonotonicTime) -> Decision? {
        switch phase {
        case .starting, .speaking, .conversing, .over:
            return nil
        case .awaitingAgent(let since):
            if agentPresent, !isRecording {
                phase = .conversing
                return nil
            }
            if agentPresent {
                phase = .settling(since: now)
                updateQuiet(now: now)
                return nil
            }
            guard now - since >= limits.agentJoin else { return nil }
            return finish(.fail(.agentDidNotJoin(after: limits.agentJoin)))
        case .settling(let since):
            let heard = subscribed || now - since >= limits.subscription
            let quiet = quietFor(now: now) >= limits.settle
            guard (heard && quiet) || now - since >= limits.agentReady else { return nil }
            phase = .speaking
            return .speak
        case .awaitingReply(let since):
            if audible {
                phase = .hearingReply(since: now)
                return nil
            }
            guard now - since >= limits.reply else { return nil }
            return finish(.fail(.noReply(after: limits.reply)))
        case .hearingReply(let since):
            let complete = quietFor(now: now) >= limits.replySettle && now - since >= limits.replySettle
            guard complete || now - since >= limits.replyLength else { return nil }
            return finish(.complete)
        }
    }

    private mutating func finish(_ decision: Decision) -> Decision {
        phase = .over
        return decision
    }

    private mutating func updateQuiet(now: MonotonicTime) {
        let busy: Bool
        switch agentState {
        case .initializing?, .thinking?, .speaking?: busy = true
        default: busy = false
        }
        if audible || busy {
            quietSince = nil
        } else if quietSince == nil {
            quietSince = now
        }
    }

    private func quietFor(now: MonotonicTime) -> Duration {
        quietSince.map { now - $0 } ?? .zero
    }
}
