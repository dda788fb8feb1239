/// Reads one step of a scenario.
struct StepReader {
    let node: ScenarioNode

    private static let verbs = [
        "say", "play", "send", "wait_for", "barge_in", "pause", "mute", "unmute", "hang_up", "expect", "include",
    ]
    private static let waits = [
        "reply", "agent_speech", "agent_silence", "agent_left", "state", "transcript", "tool_call",
        "participant_joined", "participant_left",
    ]

    func step() throws(ScenarioError) -> ScenarioStep {
        guard let entries = node.node.entries else { return try bare() }
        let verbs = entries.filter { Self.verbs.contains($0.key) }
        guard let verb = verbs.first else {
            let place = entries.first.map { ScenarioPlace($0.place, in: node.file) } ?? node.place
            let name = entries.first?.key ?? "{}"
            throw ScenarioError("\(name) is no step\(ScenarioNode.hint(name, Self.verbs))", at: place)
        }
        guard verbs.count == 1 else {
            throw ScenarioError(
                "\(verb.key) and \(verbs[1].key) are two steps; put a - before each",
                at: ScenarioPlace(verbs[1].place, in: node.file))
        }
        let value = ScenarioNode(node: verb.value, file: node.file, name: verb.key)
        return try step(verb.key, value)
    }

    /// A step that is one word.
    private func bare() throws(ScenarioError) -> ScenarioStep {
        let word = node.node.string ?? ""
        let action: ScenarioStep.Action
        switch word {
        case "mute": action = .mute(true)
        case "unmute": action = .mute(false)
        case "hang_up": action = .hangUp
        default:
            guard !Self.verbs.contains(word) else { throw node.fault("\(word) needs a value: \(word): …") }
            throw node.fault("\(word.isEmpty ? "this" : word) is no step\(ScenarioNode.hint(word, Self.verbs))")
        }
        return ScenarioStep(action, at: node.place)
    }

    private func members(_ verb: String, _ others: [String] = []) throws(ScenarioError) -> ScenarioNode.Members {
        try ScenarioNode(node: node.node, file: node.file, name: "the step \(verb)").members([verb] + others)
    }

    private func step(_ verb: String, _ value: ScenarioNode) throws(ScenarioError) -> ScenarioStep {
        var step = ScenarioStep(.hangUp, at: node.place)
        switch verb {
        case "say":
            step.limit = try members(verb, ["within"])["within"]?.duration()
            step.action = .speak(.init(.words(try value.text())))
        case "play":
            step.limit = try members(verb, ["within"])["within"]?.duration()
            step.action = .speak(try Self.recording(value))
        case "send":
            _ = try members(verb)
            step.action = .send(try value.text())
        case "wait_for":
            let members = try members(verb, ["within"])
            step.limit = try members["within"]?.duration()
            step.action = .wait(try wait(value))
        case "barge_in":
            let members = try members(verb, ["within", "after", "on"])
            step.limit = try members["within"]?.duration()
            step.action = .bargeIn(try Self.speech(value), try moment(members))
        case "pause":
            _ = try members(verb)
            step.action = .pause(try value.duration())
        case "mute", "unmute":
            _ = try members(verb)
            step.action = .mute(value.node.string == nil ? verb == "mute" : try value.flag() == (verb == "mute"))
        case "expect":
            step.limit = try members(verb, ["within"])["within"]?.duration()
            step.action = .expect(try ExpectationReader.expectations(value, scope: .turn))
        case "include":
            throw value.fault("a step that includes others has no other key")
        default:
            _ = try members(verb)
        }
        return step
    }

    // MARK: Speech

    private static func recording(_ value: ScenarioNode) throws(ScenarioError) -> ScenarioStep.Speech {
        guard value.node.entries != nil else {
            return .init(.file(ScenarioLoader.resolve(try value.text(), beside: value.file), from: nil, to: nil))
        }
        let members = try value.members(["file", "from", "to"])
        guard let file = members["file"] else { throw value.fault("play needs a file") }
        let from = try members["from"]?.duration()
        let to = try members["to"]?.duration()
        if let to, to <= from ?? .zero { throw value.fault("to has to be after from") }
        return .init(.file(ScenarioLoader.resolve(try file.text(), beside: value.file), from: from, to: to))
    }

    private static func speech(_ value: ScenarioNode) throws(ScenarioError) -> ScenarioStep.Speech {
        guard value.node.entries != nil else { return .init(.words(try value.text())) }
        let members = try value.members(["say", "play"])
        switch (members["say"], members["play"]) {
        case (let words?, nil): return .init(.words(try words.text()))
        case (nil, let file?): return try recording(file)
        default: throw value.fault("barge_in needs either words to say or a file to play")
        }
    }

    private func moment(_ members: ScenarioNode.Members) throws(ScenarioError) -> ScenarioStep.Moment {
        switch (members["after"], members["on"]) {
        case (let time?, nil): return .after(try time.duration())
        case (nil, let words?):
            let text = try words.text()
            guard !Words.normalized(text).isEmpty else { throw words.fault("on has to hold a word") }
            return .on(text)
        case (nil, nil): return .after(.zero)
        case (_?, let words?): throw words.fault("after and on are two moments; give one")
        }
    }

    // MARK: Waits

    private func wait(_ value: ScenarioNode) throws(ScenarioError) -> ScenarioStep.Wait {
        guard let entries = value.node.entries else { return try bareWait(value) }
        guard entries.count == 1, let entry = entries.first else {
            throw value.fault("wait_for waits for one thing; use a step for each")
        }
        let inner = ScenarioNode(node: entry.value, file: value.file, name: entry.key)
        switch entry.key {
        case "agent_silence": return .agentSilence(try inner.duration())
        case "state": return .state(AgentState(attribute: try inner.text()))
        case "transcript":
            let (condition, members) = try ExpectationReader.text(inner, others: ["speaker", "final"])
            return .transcript(
                condition, speaker: try members?["speaker"]?.choice(ScenarioExpectation.Speaker.self) ?? .agent,
                isFinal: try members?["final"]?.flag() ?? false)
        case "tool_call": return .toolCall(try ExpectationReader.tool(inner).condition)
        case "participant_joined": return .participantJoined(try inner.text())
        case "participant_left": return .participantLeft(try inner.text())
        default:
            throw ScenarioError(
                "\(entry.key) cannot be waited for\(ScenarioNode.hint(entry.key, Self.waits))",
                at: ScenarioPlace(entry.place, in: value.file))
        }
    }

    private func bareWait(_ value: ScenarioNode) throws(ScenarioError) -> ScenarioStep.Wait {
        let word = try value.text()
        switch word {
        case "reply": return .reply
        case "agent_speech": return .agentSpeech
        case "agent_silence": return .agentSilence(.seconds(1))
        case "agent_left": return .agentLeft
        default:
            guard !Self.waits.contains(word) else { throw value.fault("\(word) needs a value: {\(word): …}") }
            throw value.fault("\(word) cannot be waited for\(ScenarioNode.hint(word, Self.waits))")
        }
    }
}
