/// One option of a command, declared once: parsing, help, completions and the man page all come from it.
struct OptionSpec: Sendable {
    enum Kind: Sendable, Equatable {
        /// `--name`, and `--no-name` where `isNegatable`.
        case flag(isNegatable: Bool)
        /// `--name VALUE`; the placeholder, and whether it may be given more than once.
        case value(String, repeats: Bool)
    }

    /// What completes a value.
    enum Completion: Sendable { case none, file, choices([String]) }

    var name: String
    var short: Character?
    var kind: Kind
    var help: String
    /// The environment variable that sets it.
    var environment: String?
    /// The key of the configuration file that sets it.
    var configKey: String?
    /// Shown in the help.
    var defaultText: String?
    var completion = Completion.none

    static func flag(
        _ name: String, short: Character? = nil, negatable: Bool = false, environment: String? = nil,
        config: String? = nil, _ help: String
    ) -> OptionSpec {
        OptionSpec(
            name: name, short: short, kind: .flag(isNegatable: negatable), help: help, environment: environment,
            configKey: config)
    }

    static func value(
        _ name: String, short: Character? = nil, _ placeholder: String, repeats: Bool = false,
        environment: String? = nil, config: String? = nil, defaultText: String? = nil,
        completion: Completion = .none, _ help: String
    ) -> OptionSpec {
        OptionSpec(
            name: name, short: short, kind: .value(placeholder, repeats: repeats), help: help,
            environment: environment, configKey: config, defaultText: defaultText, completion: completion)
    }

    var takesValue: Bool {
        if case .value = kind { true } else { false }
    }
}

/// One command, declared once.
struct CommandSpec: Sendable {
    /// A group of options under a heading of the help.
    struct Group: Sendable {
        var title: String
        var options: [OptionSpec]
    }

    var name: String
    /// One line, without a period.
    var summary: String
    var discussion: String
    /// A positional argument; nil takes none.
    var argument: (name: String, help: String, choices: [String])?
    var groups: [Group]
    var examples: [(command: String, explanation: String)]
    /// Runs it and returns the exit code.
    var run: @Sendable (Settings) async -> Int32

    var options: [OptionSpec] { groups.flatMap(\.options) }
}
