import Foundation

/// Reads files of scenarios, with the files that they include and the values of their variables.
public struct ScenarioLoader: Sendable {
    /// Gives the text of a file, or says why it cannot.
    public typealias Reading = @Sendable (_ path: String) throws(ScenarioError) -> String

    /// A mapping of a file, whose keys count where a layer before it does not have them.
    struct Layer {
        var entries: [YAMLNode.Entry]
        var file: String
    }

    private let variables: [String: String]
    private let read: Reading
    /// Files that include one another may nest so deep.
    private static let maximumDepth = 16

    /// - Parameters:
    ///   - variables: values that go before those in the files.
    ///   - read: from the file system by default.
    public init(variables: [String: String] = [:], read: @escaping Reading = Self.readFile) {
        self.variables = variables
        self.read = read
    }

    /// The scenarios of one file.
    /// - Throws: ``ScenarioError`` with the place of the first thing that is wrong.
    public func scenarios(in path: String) throws(ScenarioError) -> [Scenario] {
        let root = try document(path)
        let layers = try layers(of: root, in: path, including: [path])
        guard let list = root["scenarios"] else { return [try scenario(layers, at: root.place, in: path)] }
        let shared = layers.map { layer in
            Layer(entries: layer.entries.filter { $0.key != "scenarios" }, file: layer.file)
        }
        guard let items = list.items, !items.isEmpty else {
            throw ScenarioError("scenarios has to be a list of scenarios", at: ScenarioPlace(list.place, in: path))
        }
        var result: [Scenario] = []
        for item in items {
            let own = try self.layers(of: item, in: path, including: [path])
            let made = try scenario(own + shared, at: item.place, in: path)
            if result.contains(where: { $0.name == made.name }) {
                throw ScenarioError(
                    "a scenario named \(made.name) is there already; give each its own name", at: made.place)
            }
            result.append(made)
        }
        return result
    }

    // MARK: Files

    private func document(_ path: String) throws(ScenarioError) -> YAMLNode {
        let text = try read(path)
        do throws(YAMLError) {
            return try YAMLNode.parse(text)
        } catch {
            throw ScenarioError(error.message, at: ScenarioPlace(error.place, in: path))
        }
    }

    /// The mapping itself, then what it includes, the last of it first.
    private func layers(
        of node: YAMLNode, in file: String, including trail: [String]
    ) throws(ScenarioError) -> [Layer] {
        guard let entries = node.entries else {
            throw ScenarioError("a scenario has to be a mapping of keys", at: ScenarioPlace(node.place, in: file))
        }
        var layers = [Layer(entries: entries.filter { $0.key != "include" }, file: file)]
        guard let include = node["include"] else { return layers }
        for item in try ScenarioNode(node: include, file: file, name: "include").items(allowsOne: true).reversed() {
            let (path, root) = try included(item, trail: trail)
            layers += try self.layers(of: root, in: path, including: trail + [path])
        }
        return layers
    }

    private func included(
        _ item: ScenarioNode, trail: [String]
    ) throws(ScenarioError) -> (path: String, root: YAMLNode) {
        let path = Self.resolve(try item.text(), beside: item.file)
        guard !trail.contains(path), trail.count < Self.maximumDepth else {
            throw item.fault("\(path) includes itself: \((trail + [path]).joined(separator: " > "))")
        }
        do throws(ScenarioError) {
            return (path, try document(path))
        } catch {
            throw error.place == nil ? item.fault(error.message) : error
        }
    }

    /// The steps of a file that is included among steps.
    func steps(
        includedBy item: ScenarioNode, trail: [String], variables: ScenarioVariables
    ) throws(ScenarioError) -> (list: ScenarioNode, trail: [String]) {
        let (path, root) = try included(item, trail: trail)
        guard let list = root["steps"] ?? (root.items == nil ? nil : root) else {
            throw ScenarioError("the file has no steps to include", at: ScenarioPlace(root.place, in: path))
        }
        return (ScenarioNode(node: try variables.expand(list, in: path), file: path, name: "steps"), trail + [path])
    }

    static func resolve(_ path: String, beside file: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return folder.isEmpty && !file.hasPrefix("/") ? path : folder + "/" + path
    }

    @Sendable public static func readFile(_ path: String) throws(ScenarioError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ScenarioError(
                "the file \(path) cannot be read. Check that it exists and that you may read it", at: nil)
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw ScenarioError("the file \(path) is not UTF-8 text", at: nil)
        }
        return text
    }

    // MARK: Scenarios

    private func scenario(
        _ layers: [Layer], at place: YAMLPlace, in file: String
    ) throws(ScenarioError) -> Scenario {
        let variables = ScenarioVariables(values: try values(layers))
        var expanded: [Layer] = []
        for layer in layers {
            var entries: [YAMLNode.Entry] = []
            for var entry in layer.entries where entry.key != "variables" {
                entry.value = try variables.expand(entry.value, in: layer.file)
                entries.append(entry)
            }
            expanded.append(Layer(entries: entries, file: layer.file))
        }
        let reader = ScenarioReader(layers: expanded, loader: self, variables: variables)
        return try reader.scenario(at: ScenarioPlace(place, in: file))
    }

    /// The values of all variables; one may use those before it.
    private func values(_ layers: [Layer]) throws(ScenarioError) -> [String: String] {
        var values: [String: String] = variables
        for layer in layers.reversed() {
            guard let entry = layer.entries.first(where: { $0.key == "variables" }) else { continue }
            guard let declared = entry.value.entries else {
                throw ScenarioError(
                    "variables has to be a mapping of names to values",
                    at: ScenarioPlace(entry.value.place, in: layer.file))
            }
            for variable in declared where variables[variable.key] == nil {
                let place = ScenarioPlace(variable.value.place, in: layer.file)
                guard case .scalar = variable.value.value else {
                    throw ScenarioError("the variable \(variable.key) has to be one value", at: place)
                }
                let text = variable.value.string ?? ""
                values[variable.key] = try ScenarioVariables(values: values).expand(text, at: place)
            }
        }
        return values
    }
}
