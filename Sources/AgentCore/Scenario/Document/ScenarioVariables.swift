/// Puts the values of variables where `${name}` stands; `$${` stands for `${`. Pure.
struct ScenarioVariables {
    var values: [String: String]

    /// The node with every scalar in it filled in; keys stay as they are.
    func expand(_ node: YAMLNode, in file: String) throws(ScenarioError) -> YAMLNode {
        var result = node
        switch node.value {
        case .scalar(let text, let isPlain):
            guard text.contains("${") else { return node }
            let filled = try expand(text, at: ScenarioPlace(node.place, in: file))
            result.value = .scalar(filled, isPlain: isPlain)
        case .sequence(let items):
            var expanded: [YAMLNode] = []
            for item in items { expanded.append(try expand(item, in: file)) }
            result.value = .sequence(expanded)
        case .mapping(let entries):
            var expanded: [YAMLNode.Entry] = []
            for var entry in entries {
                entry.value = try expand(entry.value, in: file)
                expanded.append(entry)
            }
            result.value = .mapping(expanded)
        }
        return result
    }

    func expand(_ text: String, at place: ScenarioPlace) throws(ScenarioError) -> String {
        var result = ""
        var rest = text[...]
        while let dollar = rest.firstIndex(of: "$") {
            result += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                result += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let end = rest.firstIndex(of: "}") else {
                    throw ScenarioError("${ has no } after it; write $${ for the characters themselves", at: place)
                }
                let name = String(rest.dropFirst(2)[..<end])
                guard let value = values[name] else {
                    throw ScenarioError("there is no variable \(name)\(hint(name))", at: place)
                }
                result += value
                rest = rest[end...].dropFirst()
            } else {
                result.append("$")
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }

    private func hint(_ name: String) -> String {
        values.isEmpty
            ? ". Declare it under variables, or give it with --var \(name)=VALUE"
            : ScenarioNode.hint(name, values.keys.sorted())
    }
}
