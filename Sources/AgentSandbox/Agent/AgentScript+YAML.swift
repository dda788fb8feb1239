public import AgentCore

extension AgentScript {
    /// Reads a script; `config/sandbox-agent.yaml` shows what there is. What is left out is as in a script without
    /// turns.
    /// - Throws: `YAMLError` with the place of what is wrong: unknown keys, values of another type or out of range.
    public init(yaml text: String) throws(YAMLError) {
        self.init()
        let root = try YAMLNode.parse(text)
        guard let entries = root.entries else {
            throw YAMLError("the script has to be a mapping of keys", at: root.place)
        }
        for entry in entries { try read(entry) }
    }

    private mutating func read(_ entry: YAMLNode.Entry) throws(YAMLError) {
        switch entry.key {
        case "identity":
            identity = try Self.text(entry)
            guard !identity.isEmpty else { throw YAMLError("identity may not be empty", at: entry.value.place) }
        case "name": name = try Self.text(entry)
        case "agent_name": agentName = try Self.text(entry)
        case "voice": voice.name = try Self.text(entry)
        case "words_per_minute": voice.wordsPerMinute = try Self.number(entry, in: 80...450)
        case "pitch": voice.pitch = try Self.number(entry, in: 0...100)
        case "greeting": greeting = try Self.text(entry)
        case "echo": echoes = try Self.flag(entry)
        case "interruptible": allowsInterruption = try Self.flag(entry)
        case "end_of_turn": endOfTurn = .milliseconds(try Self.number(entry, in: 100...10_000))
        case "legacy_transcription": sendsLegacyTranscription = try Self.flag(entry)
        case "fallback": fallback = try Self.text(entry)
        case "fallback_transcript": fallbackTranscript = try Self.text(entry)
        case "turns": turns = try Self.turns(entry)
        default: throw YAMLError("\(entry.key) is not a key of an agent's script", at: entry.place)
        }
    }

    private static func turns(_ entry: YAMLNode.Entry) throws(YAMLError) -> [Turn] {
        guard let items = entry.value.items else { throw YAMLError("turns has to be a list", at: entry.value.place) }
        guard items.count <= maximumTurns else {
            throw YAMLError("a script may have at most \(maximumTurns) turns", at: entry.value.place)
        }
        var turns: [Turn] = []
        for item in items {
            guard let entries = item.entries else {
                throw YAMLError("a turn has the keys expect, reply and think", at: item.place)
            }
            var turn = Turn(expect: "", reply: "")
            for entry in entries {
                switch entry.key {
                case "expect": turn.expect = try text(entry)
                case "reply": turn.reply = try text(entry)
                case "think": turn.think = .milliseconds(try number(entry, in: 0...60_000))
                default: throw YAMLError("\(entry.key) is not a key of a turn", at: entry.place)
                }
            }
            guard !turn.expect.isEmpty, !turn.reply.isEmpty else {
                throw YAMLError("a turn needs the keys expect and reply", at: item.place)
            }
            turns.append(turn)
        }
        return turns
    }

    // MARK: Values

    private static func text(_ entry: YAMLNode.Entry) throws(YAMLError) -> String {
        guard let text = entry.value.string else {
            throw YAMLError("\(entry.key) has to be text", at: entry.value.place)
        }
        guard text.count <= maximumText else {
            throw YAMLError("\(entry.key) is longer than \(maximumText) characters", at: entry.value.place)
        }
        return text
    }

    private static func flag(_ entry: YAMLNode.Entry) throws(YAMLError) -> Bool {
        guard let value = entry.value.bool else {
            throw YAMLError("\(entry.key) has to be true or false", at: entry.value.place)
        }
        return value
    }

    private static func number(_ entry: YAMLNode.Entry, in range: ClosedRange<Int>) throws(YAMLError) -> Int {
        guard let value = entry.value.int, range.contains(value) else {
            throw YAMLError(
                "\(entry.key) has to be a number from \(range.lowerBound) to \(range.upperBound)",
                at: entry.value.place)
        }
        return value
    }
}
