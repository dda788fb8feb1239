/// Makes a scenario out of the layers of its file. Pure but for files that are included among the steps.
struct ScenarioReader {
    let layers: [ScenarioLoader.Layer]
    let loader: ScenarioLoader
    let variables: ScenarioVariables

    static let keys = [
        "name", "description", "tags", "include", "variables", "time_limit", "retries", "repeat", "start", "agent",
        "attributes", "voice", "sandbox", "tools", "steps", "expect",
    ]
    /// Steps of one scenario, those of included files counted.
    private static let maximumSteps = 1000

    func scenario(at place: ScenarioPlace) throws(ScenarioError) -> Scenario {
        for layer in layers {
            let node = YAMLNode(value: .mapping(layer.entries), place: YAMLPlace(line: 1, column: 1))
            _ = try ScenarioNode(node: node, file: layer.file, name: "a scenario").members(Self.keys)
        }
        var scenario = Scenario(name: Self.baseName(place.file), place: place)
        if let node = own("name") { scenario.name = try node.text() }
        if let node = own("description") { scenario.details = try node.text() }
        if let node = own("time_limit") { scenario.timeLimit = try node.duration(orNone: false) }
        if let node = own("retries") { scenario.retries = try node.integer(in: 0...20) }
        if let node = own("repeat") { scenario.repeats = try node.integer(in: 1...1000) }
        if let node = own("start") { scenario.start = try node.choice(Scenario.Start.self) }
        if let node = own("agent") { scenario.agent = try agent(node) }
        if let node = own("voice") { scenario.voice = try voice(node) }
        if let node = own("sandbox") { scenario.sandbox = try sandbox(node) }
        for node in all("tags") { scenario.tags += try node.texts().filter { !scenario.tags.contains($0) } }
        for node in all("attributes") { try read(attributes: node, into: &scenario) }
        for node in all("tools") {
            for item in try node.items() { try add(try tool(item), at: item, to: &scenario) }
        }
        guard let steps = own("steps") else {
            throw ScenarioError("the scenario \(scenario.name) has no steps", at: place)
        }
        scenario.steps = try self.steps(steps, trail: [place.file])
        guard !scenario.steps.isEmpty, scenario.steps.count <= Self.maximumSteps else {
            throw steps.fault("steps has to have 1 to \(Self.maximumSteps) steps")
        }
        for node in all("expect") { scenario.expectations += try ExpectationReader.expectations(node, scope: .session) }
        return scenario
    }

    private static func baseName(_ file: String) -> String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return name.hasSuffix(".yaml")
            ? String(name.dropLast(5)) : name.hasSuffix(".yml") ? String(name.dropLast(4)) : name
    }

    // MARK: Layers

    /// The value of the first layer that has the key.
    private func own(_ key: String) -> ScenarioNode? { all(key).last }

    /// The values of all layers, what is included first.
    private func all(_ key: String) -> [ScenarioNode] {
        layers.reversed().compactMap { layer in
            layer.entries.first { $0.key == key }.map {
                ScenarioNode(node: $0.value, file: layer.file, name: key)
            }
        }
    }

    // MARK: Parts

    private func agent(_ node: ScenarioNode) throws(ScenarioError) -> Scenario.Agent {
        guard node.node.entries != nil else { return Scenario.Agent(name: try node.text()) }
        let members = try node.members(["name", "metadata"])
        guard let name = members["name"] else { throw node.fault("agent needs a name") }
        return Scenario.Agent(name: try name.text(), metadata: try members["metadata"]?.text())
    }

    private func voice(_ node: ScenarioNode) throws(ScenarioError) -> Scenario.Voice {
        var voice = Scenario.Voice()
        guard node.node.entries != nil else {
            voice.name = try node.text()
            return voice
        }
        let members = try node.members(["name", "words_per_minute", "pitch"])
        if let name = members["name"] { voice.name = try name.text() }
        if let rate = members["words_per_minute"] { voice.wordsPerMinute = try rate.integer(in: 80...450) }
        if let pitch = members["pitch"] { voice.pitch = try pitch.integer(in: 0...100) }
        return voice
    }

    private func sandbox(_ node: ScenarioNode) throws(ScenarioError) -> Scenario.Sandbox {
        guard node.node.entries != nil else {
            throw node.fault("sandbox has to be a script of the sandbox's agent, such as `turns: [...]`")
        }
        return Scenario.Sandbox(script: node.node, file: node.file)
    }

    private func read(attributes node: ScenarioNode, into scenario: inout Scenario) throws(ScenarioError) {
        guard let entries = node.node.entries else { throw node.fault("attributes has to be a mapping of texts") }
        for entry in entries {
            scenario.attributes[entry.key] = try ScenarioNode(node: entry.value, file: node.file, name: entry.key)
                .text()
        }
    }

    private func tool(_ node: ScenarioNode) throws(ScenarioError) -> Scenario.Tool {
        let members = try ScenarioNode(node: node.node, file: node.file, name: "a tool").members(["name", "reply"])
        guard let name = members["name"] else { throw node.fault("a tool needs a name") }
        guard let reply = members["reply"] else { return Scenario.Tool(name: try name.text(), reply: "") }
        // What is written as text goes as it is; lists and mappings go as JSON.
        if case .scalar(let text, _) = reply.node.value { return Scenario.Tool(name: try name.text(), reply: text) }
        return Scenario.Tool(name: try name.text(), reply: JSONValue(yaml: reply.node).line)
    }

    private func add(
        _ tool: Scenario.Tool, at node: ScenarioNode, to scenario: inout Scenario
    ) throws(ScenarioError) {
        guard tool.reply.utf8.count <= RPCEndpoint.maximumPayload else {
            throw node.fault("the reply of \(tool.name) is longer than \(RPCEndpoint.maximumPayload) bytes")
        }
        scenario.tools.removeAll { $0.name == tool.name }
        scenario.tools.append(tool)
    }

    // MARK: Steps

    private func steps(_ list: ScenarioNode, trail: [String]) throws(ScenarioError) -> [ScenarioStep] {
        var steps: [ScenarioStep] = []
        for item in try list.items() {
            if let include = item.node["include"], item.node.entries?.count == 1 {
                let path = ScenarioNode(node: include, file: item.file, name: "include")
                let (inner, innerTrail) = try loader.steps(includedBy: path, trail: trail, variables: variables)
                steps += try self.steps(inner, trail: innerTrail)
            } else {
                steps.append(try StepReader(node: item).step())
            }
            guard steps.count <= Self.maximumSteps else {
                throw item.fault("there are more than \(Self.maximumSteps) steps")
            }
        }
        return steps
    }
}
