import AgentCore

/// `agentctl completions` and `agentctl man`: texts made from the declarations of the commands.
enum InfoCommands {
    static let completions: CommandSpec = CommandSpec(
        name: "completions",
        summary: "Print the completion script of a shell",
        discussion: "",
        argument: ("SHELL", "bash, zsh or fish", Completions.shells),
        groups: [],
        examples: [("source <(agentctl completions bash)", "complete in this shell")],
        run: { settings in
            guard let shell = settings.positionals.first, let script = Completions.script(for: shell, Commands.all)
            else {
                return TalkCommand.fail(
                    "name a shell: agentctl completions \(Completions.shells.joined(separator: "|"))",
                    code: ExitCode.usage)
            }
            Output.shared.write(script)
            return ExitCode.done
        })

    static let man: CommandSpec = CommandSpec(
        name: "man",
        summary: "Print the manual page",
        discussion: "",
        argument: nil,
        groups: [],
        examples: [("agentctl man | man -l -", "read it")],
        run: { _ in
            Output.shared.write(ManPage.text(Commands.all, version: agentctlVersion))
            return ExitCode.done
        })
}

/// The commands there are.
enum Commands {
    static let all: [CommandSpec] = [
        TalkCommand.spec, TokenCommand.spec, DevicesCommand.spec, SandboxCommand.spec, InfoCommands.completions,
        InfoCommands.man,
    ]

    /// Runs a whole command line and returns the exit code.
    static func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        guard let name = arguments.first else {
            Output.shared.note(Help.overview(all))
            return ExitCode.usage
        }
        switch name {
        case "--help", "-h", "help":
            guard name == "help", let topic = arguments.dropFirst().first else {
                Output.shared.write(Help.overview(all))
                return ExitCode.done
            }
            return await run([topic, "--help"], environment: environment)
        case "--version", "-V", "version":
            Output.shared.writeLine("agentctl \(agentctlVersion)")
            return ExitCode.done
        default: break
        }
        guard let command = all.first(where: { $0.name == name }) else {
            let hint = Suggestion.nearest(to: name, among: all.map(\.name)).map { " Did you mean \($0)?" } ?? ""
            return TalkCommand.fail("unknown command '\(name)'.\(hint) See agentctl --help", code: ExitCode.usage)
        }
        let rest = Array(arguments.dropFirst())
        let options = rest.prefix { $0 != "--" }
        if options.contains("--help") || options.contains("-h") {
            Output.shared.write(Help.command(command))
            return ExitCode.done
        }
        do throws(UsageError) {
            let parsed = try ArgumentParser.parse(rest, for: command)
            let file = try ConfigFile.load(named: parsed.values["config"]?.last, environment: environment)
            try file?.check(against: all.flatMap(\.options).compactMap(\.configKey))
            let settings = Settings(command: command, arguments: parsed, environment: environment, file: file)
            return await command.run(settings)
        } catch {
            return TalkCommand.fail(error.description, code: ExitCode.usage)
        }
    }
}
