/// The help texts, made from the declarations.
enum Help {
    static func overview(_ commands: [CommandSpec]) -> String {
        var text = """
            agentctl: talk to voice agents from the command line

            Usage: agentctl COMMAND [OPTIONS]

            Commands:

            """
        for command in commands { text += "  \(padded(command.name, 12))\(command.summary)\n" }
        text += """

            agentctl COMMAND --help tells more about a command. With nothing set, a sandbox inside the program serves:
              agentctl talk --input config/demo/hello.wav --output reply.wav

            """
        return text
    }

    static func command(_ command: CommandSpec) -> String {
        let argument = command.argument.map { " [\($0.name)]" } ?? ""
        var text = "agentctl \(command.name): \(command.summary)\n\n"
        text += "Usage: agentctl \(command.name) [OPTIONS]\(argument)\n\n"
        if !command.discussion.isEmpty { text += wrapped(command.discussion, indent: 0) + "\n" }
        if let argument = command.argument { text += "  \(padded(argument.name, 26))\(argument.help)\n\n" }
        for group in command.groups where !group.options.isEmpty {
            text += "\(group.title):\n"
            for option in group.options { text += entry(option) }
            text += "\n"
        }
        if !command.examples.isEmpty {
            text += "Examples:\n"
            for example in command.examples { text += "  # \(example.explanation)\n  \(example.command)\n" }
        }
        return text
    }

    /// An option as it is written, such as `-o, --output FILE`.
    static func spelling(_ option: OptionSpec) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        switch option.kind {
        case .flag(let isNegatable): return short + (isNegatable ? "--[no-]\(option.name)" : "--\(option.name)")
        case .value(let placeholder, _): return short + "--\(option.name) \(placeholder)"
        }
    }

    /// What the help says of an option: its meaning, default, and the other ways to set it.
    static func explanation(_ option: OptionSpec) -> String {
        var text = option.help
        if let value = option.defaultText { text += " (default: \(value))" }
        var others: [String] = []
        if let variable = option.environment { others.append(variable) }
        if let key = option.configKey { others.append("config: \(key)") }
        if !others.isEmpty { text += " [\(others.joined(separator: ", "))]" }
        return text
    }

    private static func entry(_ option: OptionSpec) -> String {
        let head = "  " + spelling(option)
        let body = wrapped(explanation(option), indent: 30)
        guard head.count < 29 else { return head + "\n" + body }
        return padded(head, 30) + body.dropFirst(30)
    }

    /// Lines of at most 100 columns.
    private static func wrapped(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = margin
            for word in paragraph.split(separator: " ") {
                if line.count + word.count + 1 > 100, line.count > indent {
                    lines.append(line)
                    line = margin
                }
                line += (line.count > indent ? " " : "") + word
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text.count >= width ? text + " " : text + String(repeating: " ", count: width - text.count)
    }
}
