import Foundation

/// Completion scripts of the common shells, made from the declarations.
enum Completions {
    static let shells = ["bash", "zsh", "fish"]

    static func script(for shell: String, _ commands: [CommandSpec]) -> String? {
        switch shell {
        case "bash": bash(commands)
        case "zsh": zsh(commands)
        case "fish": fish(commands)
        default: nil
        }
    }

    private static func spellings(_ option: OptionSpec) -> [String] {
        var result = ["--" + option.name]
        if option.kind == .flag(isNegatable: true) { result.append("--no-" + option.name) }
        if let short = option.short { result.append("-\(short)") }
        return result
    }

    private static func bash(_ commands: [CommandSpec]) -> String {
        var text = """
            # bash completion of agentctl; source it, or install it as bash-completion/completions/agentctl
            _agentctl() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
                COMPREPLY=()
                if [ "$COMP_CWORD" = 1 ]; then
                    COMPREPLY=($(compgen -W "\((commands.map(\.name) + ["--help", "--version"]).joined(separator: " "))" -- "$current"))
                    return
                fi
                case $command in

            """
        for command in commands {
            let files = command.options.filter { if case .file = $0.completion { true } else { false } }.flatMap(
                spellings)
            let words = (command.options.flatMap(spellings) + ["--help"] + (command.argument?.choices ?? []))
                .joined(separator: " ")
            text += "        \(command.name))\n"
            if !files.isEmpty {
                text += "            case $previous in \(files.joined(separator: "|"))) "
                text += "COMPREPLY=($(compgen -f -- \"$current\")); return;; esac\n"
            }
            text += "            COMPREPLY=($(compgen -W \"\(words)\" -- \"$current\"));;\n"
        }
        return text + "    esac\n}\ncomplete -o filenames -F _agentctl agentctl\n"
    }

    private static func zsh(_ commands: [CommandSpec]) -> String {
        var text = "#compdef agentctl\n# zsh completion of agentctl; install it as _agentctl in a folder of $fpath\n"
        text += "_agentctl() {\n    local -a commands\n    commands=(\n"
        for command in commands { text += "        '\(command.name):\(quoted(command.summary))'\n" }
        text += "    )\n    if (( CURRENT == 2 )); then _describe command commands; return; fi\n    case $words[2] in\n"
        for command in commands {
            text += "        \(command.name)) shift words; (( CURRENT-- )); _arguments"
            for option in command.options {
                let action: String
                switch option.completion {
                case .file: action = ":file:_files"
                case .choices(let choices): action = ":value:(\(choices.joined(separator: " ")))"
                case .none: action = option.takesValue ? ":value:" : ""
                }
                for spelling in spellings(option) {
                    text += " \\\n            '\(spelling)[\(quoted(option.help))]\(action)'"
                }
            }
            text += " \\\n            '--help[show help]'"
            if let argument = command.argument {
                text += " \\\n            '1:\(argument.name):(\(argument.choices.joined(separator: " ")))'"
            }
            text += ";;\n"
        }
        return text + "    esac\n}\n_agentctl \"$@\"\n"
    }

    private static func fish(_ commands: [CommandSpec]) -> String {
        var text = "# fish completion of agentctl; install it as completions/agentctl.fish\ncomplete -c agentctl -f\n"
        for command in commands {
            text += "complete -c agentctl -n __fish_use_subcommand -a \(command.name) -d '\(quoted(command.summary))'\n"
            for option in command.options {
                text += "complete -c agentctl -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)"
                if let short = option.short { text += " -s \(short)" }
                if option.takesValue { text += " -r" }
                if case .file = option.completion { text += " -F" }
                if case .choices(let choices) = option.completion { text += " -a '\(choices.joined(separator: " "))'" }
                text += " -d '\(quoted(option.help))'\n"
            }
        }
        return text
    }

    /// Fit for single quotes and for zsh's brackets.
    private static func quoted(_ text: String) -> String {
        String(text.filter { !"'[]:`$\\\"".contains($0) })
    }
}

/// The manual page, made from the declarations (man-pages(7) conventions).
enum ManPage {
    static func text(_ commands: [CommandSpec], version: String) -> String {
        var text = ".TH AGENTCTL 1 \"\" \"agentctl \(version)\" \"User Commands\"\n"
        text += ".SH NAME\nagentctl \\- talk to voice agents from the command line\n"
        text += ".SH SYNOPSIS\n.B agentctl\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH COMMANDS\n"
        for command in commands {
            text += ".SS \(escaped("agentctl " + command.name))\n\(escaped(command.summary)).\n"
            if !command.discussion.isEmpty { text += ".PP\n\(escaped(command.discussion))\n" }
            for group in command.groups where !group.options.isEmpty {
                text += ".PP\n\\fB\(escaped(group.title))\\fR\n"
                for option in group.options {
                    let spelling = String(Help.spelling(option).drop { $0 == " " })
                    text += ".TP\n\\fB\(escaped(spelling))\\fR\n\(escaped(Help.explanation(option)))\n"
                }
            }
            for example in command.examples {
                text += ".PP\n\(escaped(example.explanation)):\n.PP\n.RS\n.nf\n\(escaped(example.command))\n.fi\n.RE\n"
            }
        }
        text += ".SH EXIT STATUS\n"
        for (code, meaning) in ExitCode.meanings { text += ".TP\n\\fB\(code)\\fR\n\(escaped(meaning))\n" }
        return text
    }

    private static func escaped(_ text: String) -> String {
        let plain = text.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
        return plain.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
    }
}
