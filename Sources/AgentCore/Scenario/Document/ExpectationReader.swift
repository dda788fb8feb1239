/// Reads what a scenario expects.
enum ExpectationReader {
    private static let kinds = ["text", "latency", "states", "tool_call", "no_overlap", "audible", "stops_within"]

    /// A mapping of expectations, or a list of such mappings. Each may say its own scope.
    static func expectations(
        _ node: ScenarioNode, scope: ScenarioExpectation.Scope
    ) throws(ScenarioError) -> [ScenarioExpectation] {
        var result: [ScenarioExpectation] = []
        for item in try node.items(allowsOne: true) {
            let item = ScenarioNode(node: item.node, file: item.file, name: "expect")
            let members = try item.members(kinds + ["scope"])
            let scope = try members["scope"]?.choice(ScenarioExpectation.Scope.self) ?? scope
            let before = result.count
            for key in kinds {
                guard let value = members[key] else { continue }
                result.append(ScenarioExpectation(try kind(key, value), scope: scope, at: value.place))
            }
            guard result.count > before else {
                throw item.fault("expect says nothing. There are \(kinds.joined(separator: ", "))")
            }
        }
        guard !result.isEmpty else { throw node.fault("expect says nothing") }
        return result
    }

    private static func kind(
        _ key: String, _ value: ScenarioNode
    ) throws(ScenarioError) -> ScenarioExpectation.Kind {
        switch key {
        case "text":
            let (condition, members) = try text(value, others: ["speaker"])
            return .text(
                condition, speaker: try members?["speaker"]?.choice(ScenarioExpectation.Speaker.self) ?? .agent)
        case "latency":
            guard value.node.entries != nil else {
                return .latency(firstAudio: try value.duration(orNone: false), firstText: nil)
            }
            let members = try value.members(["first_audio", "first_text"])
            let audio = try members["first_audio"]?.duration(orNone: false)
            let text = try members["first_text"]?.duration(orNone: false)
            guard audio != nil || text != nil else { throw value.fault("latency needs first_audio or first_text") }
            return .latency(firstAudio: audio, firstText: text)
        case "states": return .states(try value.texts().map { AgentState(attribute: $0) })
        case "tool_call":
            let (condition, times) = try tool(value)
            return .toolCall(condition, times: times)
        case "no_overlap": return .noOverlap(try overlap(value))
        case "audible": return try audible(value)
        default: return .stopsWithin(try value.duration(orNone: false))
        }
    }

    private static func overlap(_ value: ScenarioNode) throws(ScenarioError) -> Duration {
        guard value.node.entries != nil else {
            guard try value.flag() else { throw value.fault("no_overlap is true, or a mapping with at_most") }
            return .milliseconds(200)
        }
        guard let limit = try value.members(["at_most"])["at_most"] else {
            throw value.fault("no_overlap needs at_most")
        }
        return try limit.duration()
    }

    private static func audible(_ value: ScenarioNode) throws(ScenarioError) -> ScenarioExpectation.Kind {
        let least = Duration.milliseconds(200)
        guard value.node.entries != nil else {
            guard try value.flag() else { throw value.fault("audible is true, or a mapping with at_least and speaker") }
            return .audible(least, speaker: .agent)
        }
        let members = try value.members(["at_least", "speaker"])
        return .audible(
            try members["at_least"]?.duration() ?? least,
            speaker: try members["speaker"]?.choice(ScenarioExpectation.Speaker.self) ?? .agent)
    }

    // MARK: Conditions

    /// A condition on a text: the words that it contains, or a mapping.
    static func text(
        _ value: ScenarioNode, others: [String]
    ) throws(ScenarioError) -> (TextCondition, ScenarioNode.Members?) {
        guard value.node.entries != nil else { return (.contains(try value.texts()), nil) }
        let kinds = ["contains", "lacks", "matches", "words"]
        let members = try value.members(kinds + ["word_error_rate"] + others)
        let given = kinds.filter { members[$0] != nil }
        guard given.count == 1, let key = given.first, let inner = members[key] else {
            throw value.fault("\(value.name) needs one of \(kinds.joined(separator: ", "))")
        }
        if let rate = members["word_error_rate"], key != "words" {
            throw rate.fault("word_error_rate goes with words, the text to compare with")
        }
        switch key {
        case "contains": return (.contains(try inner.texts()), members)
        case "lacks": return (.lacks(try inner.texts()), members)
        case "matches":
            let pattern = try inner.text()
            guard (try? Regex(pattern)) != nil else {
                throw inner.fault("\(pattern) is no regular expression")
            }
            return (.matches(pattern), members)
        default:
            let text = try inner.text()
            guard !Words.normalized(text).isEmpty else { throw inner.fault("words has to hold a word") }
            return (.words(text, errorRate: try members["word_error_rate"]?.number(in: 0...1) ?? 0), members)
        }
    }

    /// A call of a tool: its name, or a mapping.
    static func tool(_ value: ScenarioNode) throws(ScenarioError) -> (condition: ToolCondition, times: Int?) {
        guard value.node.entries != nil else { return (ToolCondition(name: try value.text()), nil) }
        let members = try value.members(["name", "arguments", "times"])
        guard let name = members["name"] else { throw value.fault("tool_call needs a name") }
        if let arguments = members["arguments"], arguments.node.entries == nil {
            throw arguments.fault("arguments has to be a mapping")
        }
        return (
            ToolCondition(name: try name.text(), arguments: members["arguments"].map { JSONValue(yaml: $0.node) }),
            try members["times"]?.integer(in: 0...1000)
        )
    }
}
