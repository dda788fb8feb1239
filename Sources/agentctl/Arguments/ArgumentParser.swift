import AgentCore

/// Why a command line cannot be used; the text says what to do instead.
struct UsageError: Error, Equatable, CustomStringConvertible {
    var description: String
}

/// What stands on a command line, by option name.
struct ParsedArguments: Sendable, Equatable {
    var values: [String: [String]] = [:]
    var flags: [String: Bool] = [:]
    var positionals: [String] = []
}

/// Reads a command line by its declarations: long options with a space or `=`, short ones joined or apart, `--no-` for
/// negatable flags, and `--` before which everything after is an argument.
enum ArgumentParser {
    static func parse(_ arguments: [String], for command: CommandSpec) throws(UsageError) -> ParsedArguments {
        var result = ParsedArguments()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                result.positionals += rest
                break
            }
            if argument.hasPrefix("--") {
                try parseLong(argument.dropFirst(2), &rest, command, &result)
            } else if argument.hasPrefix("-"), argument.count > 1 {
                try parseShort(argument.dropFirst(), &rest, command, &result)
            } else {
                result.positionals.append(argument)
            }
        }
        let allowed = command.argument == nil ? 0 : 1
        if result.positionals.count > allowed {
            let surplus = result.positionals[allowed]
            throw UsageError(
                description:
                    "unexpected argument '\(surplus)' for agentctl \(command.name). See agentctl \(command.name) --help"
            )
        }
        return result
    }

    private static func parseLong(
        _ text: Substring, _ rest: inout ArraySlice<String>, _ command: CommandSpec, _ result: inout ParsedArguments
    ) throws(UsageError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count > 1 ? String(parts[1]) : nil
        if let option = command.options.first(where: { $0.name == name }) {
            return try take(option, spelled: "--\(name)", attached, &rest, &result)
        }
        if name.hasPrefix("no-"), attached == nil,
            let option = command.options.first(where: {
                $0.name == name.dropFirst(3) && $0.kind == .flag(isNegatable: true)
            })
        {
            result.flags[option.name] = false
            return
        }
        var candidates = command.options.map(\.name) + ["help"]
        candidates += command.options.filter { $0.kind == .flag(isNegatable: true) }.map { "no-" + $0.name }
        let hint = Suggestion.nearest(to: name, among: candidates).map { " Did you mean --\($0)?" } ?? ""
        throw UsageError(
            description:
                "unknown option --\(name) for agentctl \(command.name).\(hint) See agentctl \(command.name) --help")
    }

    private static func parseShort(
        _ text: Substring, _ rest: inout ArraySlice<String>, _ command: CommandSpec, _ result: inout ParsedArguments
    ) throws(UsageError) {
        var letters = text
        while let letter = letters.popFirst() {
            guard let option = command.options.first(where: { $0.short == letter }) else {
                throw UsageError(
                    description:
                        "unknown option -\(letter) for agentctl \(command.name). See agentctl \(command.name) --help")
            }
            guard option.takesValue else {
                result.flags[option.name] = true
                continue
            }
            var attached: String?
            if !letters.isEmpty { attached = String(letters.first == "=" ? letters.dropFirst() : letters) }
            return try take(option, spelled: "-\(letter)", attached, &rest, &result)
        }
    }

    private static func take(
        _ option: OptionSpec, spelled: String, _ attached: String?, _ rest: inout ArraySlice<String>,
        _ result: inout ParsedArguments
    ) throws(UsageError) {
        guard case .value(let placeholder, let repeats) = option.kind else {
            if attached != nil { throw UsageError(description: "\(spelled) takes no value") }
            result.flags[option.name] = true
            return
        }
        guard let value = attached ?? rest.popFirst() else {
            throw UsageError(description: "\(spelled) needs a value: \(spelled) \(placeholder)")
        }
        if !repeats, result.values[option.name] != nil {
            throw UsageError(description: "\(spelled) was given twice")
        }
        result.values[option.name, default: []].append(value)
    }
}
