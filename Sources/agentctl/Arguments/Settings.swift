import AgentCore
import Foundation

/// The settings of one run: the command line, then the environment, then the configuration file, then the defaults.
struct Settings: Sendable {
    let command: CommandSpec
    let arguments: ParsedArguments
    let environment: [String: String]
    let file: ConfigFile?

    /// The words after the options.
    var positionals: [String] { arguments.positionals }

    func flag(_ name: String) throws(UsageError) -> Bool? {
        if let value = arguments.flags[name] { return value }
        guard let option = option(name) else { return nil }
        if let variable = option.environment, let text = environment[variable], !text.isEmpty {
            switch text.lowercased() {
            case "1", "true", "yes", "on": return true
            case "0", "false", "no", "off": return false
            default: throw UsageError(description: "\(variable) is '\(text)'; use 1 or 0")
            }
        }
        guard let key = option.configKey, let file, let node = file.root[key] else { return nil }
        guard let value = node.bool else {
            throw UsageError(description: "\(file.path):\(node.place): \(key) has to be true or false")
        }
        return value
    }

    /// Where a value comes from, for messages.
    private struct Sourced {
        var text: String
        var source: String
    }

    func string(_ name: String) throws(UsageError) -> String? {
        try sourced(name)?.text
    }

    private func sourced(_ name: String) throws(UsageError) -> Sourced? {
        if let value = arguments.values[name]?.last { return Sourced(text: value, source: "--\(name)") }
        guard let option = option(name) else { return nil }
        // A variable that is set and empty counts as not set, as everywhere.
        if let variable = option.environment, let text = environment[variable], !text.isEmpty {
            return Sourced(text: text, source: variable)
        }
        guard let key = option.configKey, let file, let node = file.root[key] else { return nil }
        guard case .scalar(let text, _) = node.value else {
            throw UsageError(description: "\(file.path):\(node.place): \(key) has to be one value")
        }
        return node.string == nil ? nil : Sourced(text: text, source: "\(file.path):\(node.place): \(key)")
    }

    func strings(_ name: String) -> [String] {
        arguments.values[name] ?? []
    }

    func integer(_ name: String, in range: ClosedRange<Int>, unit: String) throws(UsageError) -> Int? {
        guard let sourced = try sourced(name) else { return nil }
        guard let value = Int(sourced.text), range.contains(value) else {
            throw UsageError(
                description:
                    "\(sourced.source) is '\(sourced.text)'; it has to be a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound)\(unit.isEmpty ? "" : " (\(unit))")")
        }
        return value
    }

    /// A duration in seconds, with decimals.
    func seconds(_ name: String, in range: ClosedRange<Double>) throws(UsageError) -> Duration? {
        guard let sourced = try sourced(name) else { return nil }
        guard let value = Double(sourced.text), range.contains(value) else {
            throw UsageError(
                description:
                    "\(sourced.source) is '\(sourced.text)'; it has to be seconds from \(range.lowerBound) to "
                    + "\(range.upperBound)")
        }
        return .milliseconds(Int64(value * 1000))
    }

    func milliseconds(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Duration? {
        try integer(name, in: range, unit: "ms").map { .milliseconds($0) }
    }

    /// `key=value` pairs.
    func pairs(_ name: String, separator: Character = "=") throws(UsageError) -> [(String, String)] {
        var result: [(String, String)] = []
        for text in strings(name) {
            let parts = text.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError(description: "--\(name) is '\(text)'; write it as NAME\(separator)VALUE")
            }
            let value = parts[1].drop { $0 == " " }
            result.append((String(parts[0]), String(value)))
        }
        return result
    }

    private func option(_ name: String) -> OptionSpec? {
        command.options.first { $0.name == name }
    }
}

/// The configuration file: YAML, one key for each setting.
struct ConfigFile: Sendable {
    var path: String
    var root: YAMLNode

    /// Reads the file that was named, or the default one if it is there.
    static func load(named path: String?, environment: [String: String]) throws(UsageError) -> ConfigFile? {
        let isNamed = path != nil
        let path = path ?? defaultPath(environment)
        guard let path, isNamed || FileManager.default.fileExists(atPath: path) else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UsageError(
                description:
                    "the configuration file \(path) cannot be read. Check that it exists and that you may read it")
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw UsageError(description: "the configuration file \(path) is not UTF-8 text")
        }
        do throws(YAMLError) {
            let root = try YAMLNode.parse(text)
            guard root.entries != nil else {
                throw YAMLError("the file has to be a mapping of settings", at: root.place)
            }
            return ConfigFile(path: path, root: root)
        } catch {
            throw UsageError(description: "\(path):\(error)")
        }
    }

    private static func defaultPath(_ environment: [String: String]) -> String? {
        if let base = environment["XDG_CONFIG_HOME"], !base.isEmpty { return base + "/agentctl/config.yaml" }
        guard let home = environment["HOME"], !home.isEmpty else { return nil }
        return home + "/.config/agentctl/config.yaml"
    }

    /// Refuses keys that no command knows.
    func check(against known: [String]) throws(UsageError) {
        for entry in root.entries ?? [] where !known.contains(entry.key) {
            let hint = Suggestion.nearest(to: entry.key, among: known).map { " Did you mean \($0)?" } ?? ""
            throw UsageError(description: "\(path):\(entry.place): unknown setting \(entry.key).\(hint)")
        }
    }
}
