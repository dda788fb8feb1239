import Foundation

extension ClientTool {
    /// Reads a file of tools: a mapping whose key `tools` is a list.
    ///
    /// ```yaml
    /// tools:
    ///   - name: get_weather
    ///     parameters: {type: object, properties: {city: {type: string}}, required: [city]}
    ///     command: [./weather.py, --brief]   # relative to the file's folder; other names are looked up in PATH
    ///     timeout: 5s
    ///   - name: get_location
    ///     reply: {latitude: 52.5, longitude: 13.4}
    /// ```
    /// - Throws: ``ScenarioError`` with file, line and column.
    public static func load(path: String) throws(ScenarioError) -> [ClientTool] {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            let reason =
                FileManager.default.fileExists(atPath: path)
                ? "it cannot be read as UTF-8 text" : "there is no such file"
            throw ScenarioError(
                "the tools cannot be read: \(reason)", at: ScenarioPlace(YAMLPlace(line: 1, column: 1), in: path))
        }
        return try read(text, file: path)
    }

    static func read(_ text: String, file: String) throws(ScenarioError) -> [ClientTool] {
        let root: YAMLNode
        do {
            root = try YAMLNode.parse(text)
        } catch {
            throw ScenarioError(error.message, at: ScenarioPlace(error.place, in: file))
        }
        let document = ScenarioNode(node: root, file: file, name: "the file")
        guard let list = try document.members(["tools"])["tools"] else { throw document.fault("the file has no tools") }
        return try read(list)
    }

    /// Reads a list of tools.
    static func read(_ list: ScenarioNode) throws(ScenarioError) -> [ClientTool] {
        var tools: [ClientTool] = []
        for item in try list.items() {
            let tool = try ClientTool(item)
            guard !tools.contains(where: { $0.name == tool.name }) else {
                throw item.fault("the tool \(tool.name) is there twice")
            }
            tools.append(tool)
        }
        return tools
    }

    private init(_ node: ScenarioNode) throws(ScenarioError) {
        let keys = ["name", "description", "parameters", "command", "shell", "reply", "timeout", "concurrency"]
        let members = try node.members(keys)
        guard let nameNode = members["name"] else { throw node.fault("a tool needs a name") }
        let name = try nameNode.text()
        guard name.utf8.count <= Self.maximumName else {
            throw nameNode.fault("the name of a tool may have at most \(Self.maximumName) bytes")
        }
        let actions = ["command", "shell", "reply"].compactMap { members[$0] }
        guard actions.count == 1, let action = actions.first else {
            throw node.fault("the tool \(name) needs one of command, shell and reply")
        }
        self.init(name: name, action: try Self.action(action))
        details = try members["description"]?.text() ?? ""
        if let schema = members["parameters"] {
            do {
                parameters = try JSONSchema(JSONValue(yaml: schema.node))
            } catch {
                throw schema.fault("the parameters of \(name) are no usable JSON schema: \(error.message)")
            }
        }
        timeLimit = try members["timeout"]?.duration(orNone: false) ?? timeLimit
        concurrency = try members["concurrency"]?.integer(in: 1...64) ?? concurrency
    }

    private static func action(_ node: ScenarioNode) throws(ScenarioError) -> Action {
        switch node.name {
        case "shell": return .command(["/bin/sh", "-c", try node.text()])
        case "reply":
            let value = JSONValue(yaml: node.node)
            // Text is the answer itself; anything else is told as JSON.
            return .reply(value.text ?? value.line)
        default:
            guard node.node.items != nil else {
                throw node.fault("command is a list of a program and its arguments; shell: takes a line for /bin/sh")
            }
            var words: [String] = []
            for item in try node.items() { words.append(try item.text()) }
            guard let program = words.first else { throw node.fault("command names no program") }
            if program.contains("/"), !program.hasPrefix("/") {
                let folder = URL(fileURLWithPath: node.file).deletingLastPathComponent()
                words[0] = folder.appendingPathComponent(program).standardized.path
            }
            return .command(words)
        }
    }
}
