import LoopCore

/// What the scripted agent decides: turns, states, transcripts. Pure: what it hears and the time go in, what to do
/// comes out.
struct AgentBrain: Sendable {
    enum State: String, Sendable { case initializing, listening, thinking, speaking }

    enum Input: Sendable, Equatable {
        /// The user can hear the agent.
        case ready
        case speechStarted
        case speechEnded
        /// A typed message.
        case chat(String)
        /// What was to be said has been said, or was cut short.
        case playbackEnded
        case tick
    }

    enum Output: Sendable, Equatable {
        case state(State)
        /// What the user has said so far, or in all.
        case transcribe(segment: Int, text: String, isFinal: Bool)
        case say(String)
        /// Play back what the user just said.
        case playBack
        case stopSpeaking
    }

    private let script: AgentScript
    private(set) var state = State.initializing
    private var nextTurn = 0
    private var segment = 0
    private var speech: Speech?
    private var pending: Pending?

    /// The user is talking.
    private struct Speech: Sendable {
        var startedAt: MonotonicTime
        var turn: AgentScript.Turn?
        var words: [String]
        var shown = 0
    }

    /// An answer that is thought about.
    private struct Pending: Sendable {
        var due: MonotonicTime
        var output: Output
    }

    /// How fast interim transcripts grow: that of unhurried speech.
    private static let wordDuration = Duration.milliseconds(350)

    init(script: AgentScript) {
        self.script = script
    }

    mutating func handle(_ input: Input, now: MonotonicTime) -> [Output] {
        switch input {
        case .ready: return ready(now)
        case .speechStarted: return started(now)
        case .speechEnded: return ended(now)
        case .chat(let text): return answer(chat: text, now)
        case .playbackEnded:
            return state == .speaking ? enter(.listening) : []
        case .tick: return tick(now)
        }
    }

    private mutating func ready(_ now: MonotonicTime) -> [Output] {
        guard state == .initializing else { return [] }
        var outputs = enter(.listening)
        if !script.greeting.isEmpty { outputs += enter(.speaking) + [.say(script.greeting)] }
        return outputs
    }

    private mutating func enter(_ new: State) -> [Output] {
        guard new != state else { return [] }
        state = new
        return [.state(new)]
    }

    // MARK: Speech

    private mutating func started(_ now: MonotonicTime) -> [Output] {
        guard speech == nil else { return [] }
        let turn = nextTurn < script.turns.count ? script.turns[nextTurn] : nil
        segment += 1
        speech = Speech(
            startedAt: now, turn: turn, words: Utterance.split(turn?.expect ?? script.fallbackTranscript))
        var outputs: [Output] = []
        switch state {
        case .speaking where script.allowsInterruption:
            outputs = [.stopSpeaking] + enter(.listening)
        case .thinking:
            // The user goes on: the answer is thought about anew.
            pending = nil
            outputs = enter(.listening)
        default: break
        }
        return outputs
    }

    private mutating func ended(_ now: MonotonicTime) -> [Output] {
        guard let said = speech else { return [] }
        speech = nil
        var outputs: [Output] = []
        if !script.echoes {
            let text = said.words.joined()
            if said.shown < said.words.count {
                outputs.append(.transcribe(segment: segment, text: text, isFinal: false))
            }
            outputs.append(.transcribe(segment: segment, text: text, isFinal: true))
        }
        // Still talking over the user: what was said is heard, and not answered.
        guard state != .speaking else { return outputs }
        if said.turn != nil { nextTurn += 1 }
        let think = said.turn?.think ?? .milliseconds(200)
        return outputs
            + consider(think, then: script.echoes ? .playBack : .say(said.turn?.reply ?? script.fallback), now)
    }

    private mutating func consider(_ duration: Duration, then output: Output, _ now: MonotonicTime) -> [Output] {
        pending = Pending(due: now + duration, output: output)
        return enter(.thinking)
    }

    // MARK: Chat

    private mutating func answer(chat text: String, _ now: MonotonicTime) -> [Output] {
        guard state != .initializing else { return [] }
        let outputs: [Output] = state == .speaking ? [.stopSpeaking] + enter(.listening) : []
        let wanted = Self.normalized(text)
        let turn = script.turns.first { Self.normalized($0.expect) == wanted }
        let reply = script.echoes ? text : turn?.reply ?? script.fallback
        return outputs + consider(turn?.think ?? .milliseconds(200), then: .say(reply), now)
    }

    /// Letters and digits only, so that punctuation and case do not matter.
    static func normalized(_ text: String) -> String {
        String(text.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    // MARK: Time

    private mutating func tick(_ now: MonotonicTime) -> [Output] {
        if let pending, now >= pending.due {
            self.pending = nil
            return enter(.speaking) + [pending.output]
        }
        guard var current = speech, !script.echoes, !current.words.isEmpty else { return [] }
        let elapsed = now - current.startedAt
        // The last word waits for the end.
        let count = min(
            current.words.count - 1, Int(elapsed.nanoseconds / Self.wordDuration.nanoseconds))
        guard count > current.shown else { return [] }
        current.shown = count
        speech = current
        return [.transcribe(segment: segment, text: current.words.prefix(count).joined(), isFinal: false)]
    }
}
