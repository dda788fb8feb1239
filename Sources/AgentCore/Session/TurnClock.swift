import LoopCore

/// Measures the latency of turns: from the end of the user's speech to the first sound and the first word after it.
///
/// The end of speech is known only once the silence after it has been heard, so an answer may begin before it is
/// reported: beginnings are kept until then.
struct TurnClock {
    private(set) var turns: [TurnLatency] = []
    private var speechEnded: MonotonicTime?
    private var open = TurnLatency()
    private var lastSound: MonotonicTime?
    private var lastWord: MonotonicTime?

    /// The last sample of the user's speech left at `time`. Returns the turn if its answer has begun already.
    mutating func userSpeechEnded(at time: MonotonicTime) -> TurnLatency? {
        speechEnded = time
        open = TurnLatency()
        if let lastSound, lastSound >= time { open.firstAudio = lastSound - time }
        if let lastWord, lastWord >= time { open.firstText = lastWord - time }
        guard open != TurnLatency() else { return nil }
        turns.append(open)
        return open
    }

    /// The agent became audible. Returns the turn when this is the first sound of its answer.
    mutating func agentHeard(at time: MonotonicTime) -> TurnLatency? {
        lastSound = time
        return note(\.firstAudio, at: time)
    }

    /// A word of the agent arrived. Returns the turn when this is the first word of its answer.
    mutating func agentRead(at time: MonotonicTime) -> TurnLatency? {
        lastWord = time
        return note(\.firstText, at: time)
    }

    private mutating func note(
        _ part: WritableKeyPath<TurnLatency, Duration?>, at time: MonotonicTime
    ) -> TurnLatency? {
        guard let speechEnded, open[keyPath: part] == nil, time >= speechEnded else { return nil }
        let isNew = open == TurnLatency()
        open[keyPath: part] = time - speechEnded
        if isNew { turns.append(open) } else { turns[turns.count - 1] = open }
        return open
    }
}
