import AgentCore
import Foundation
import Testing

@testable import agentctl

@Suite struct ArgumentTests {
    private func parse(_ words: String...) throws(UsageError) -> ParsedArguments {
        try ArgumentParser.parse(words, for: TalkCommand.spec)
    }

    private func failure(_ words: String...) -> String {
        do throws(UsageError) {
            _ = try ArgumentParser.parse(words, for: TalkCommand.spec)
            return ""
        } catch {
            return error.description
        }
    }

    @Test func everySpellingOfAnOption() throws {
        for words in [["--input", "a.wav"], ["--input=a.wav"], ["-i", "a.wav"], ["-ia.wav"], ["-i=a.wav"]] {
            let parsed = try ArgumentParser.parse(words, for: TalkCommand.spec)
            #expect(parsed.values["input"] == ["a.wav"])
        }
        #expect(try parse("-qv").flags == ["quiet": true, "verbose": true])
        #expect(try parse("--no-red", "--fec").flags == ["red": false, "fec": true])
        #expect(try parse("--attribute", "a=1", "--attribute=b=2").values["attribute"] == ["a=1", "b=2"])
        #expect(try parse("--input", "--output").values["input"] == ["--output"])
    }

    @Test func mistakesAreExplained() {
        #expect(failure("--inptu", "x").contains("Did you mean --input?"))
        #expect(failure("--no-json").contains("unknown option --no-json"))
        #expect(failure("--input").contains("--input needs a value: --input FILE"))
        #expect(failure("--json=yes").contains("--json takes no value"))
        #expect(failure("--room", "a", "--room", "b").contains("given twice"))
        #expect(failure("-x").contains("unknown option -x"))
        #expect(failure("file.wav").contains("unexpected argument 'file.wav'"))
        #expect(failure("--", "--input").contains("unexpected argument '--input'"))
    }

    @Test func theCommandLineGoesBeforeTheEnvironmentAndTheFile() throws {
        let file = ConfigFile(path: "c.yaml", root: try .parse("room: from-file\nbitrate: 24000\nfec: no\n"))
        func settings(_ words: [String], _ environment: [String: String]) throws -> Settings {
            Settings(
                command: TalkCommand.spec, arguments: try ArgumentParser.parse(words, for: TalkCommand.spec),
                environment: environment, file: file)
        }
        #expect(try settings(["--room", "a"], ["LIVEKIT_ROOM": "b"]).string("room") == "a")
        #expect(try settings([], ["LIVEKIT_ROOM": "b"]).string("room") == "b")
        #expect(try settings([], ["LIVEKIT_ROOM": ""]).string("room") == "from-file")
        #expect(try settings([], [:]).integer("bitrate", in: 1...99_999, unit: "") == 24_000)
        #expect(try settings([], [:]).flag("fec") == false)
        #expect(try settings(["--fec"], [:]).flag("fec") == true)
        do {
            _ = try settings([], [:]).integer("bitrate", in: 1...100, unit: "bits a second")
            Issue.record("out of range")
        } catch {
            #expect("\(error)".contains("c.yaml:2:10: bitrate is '24000'"))
        }
    }

    @Test func unknownKeysOfTheFileAreNamedWithTheirPlace() throws {
        let file = ConfigFile(path: "c.yaml", root: try .parse("room: a\nbitrat: 1\n"))
        do throws(UsageError) {
            try file.check(against: ["room", "bitrate"])
            Issue.record("not refused")
        } catch {
            #expect(error.description == "c.yaml:2:1: unknown setting bitrat. Did you mean bitrate?")
        }
    }

    @Test func theDocumentedSettingsAreKnown() throws {
        var path = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { path.deleteLastPathComponent() }
        let text = try String(contentsOf: path.appendingPathComponent("config/agentctl.yaml"), encoding: .utf8)
        // The ones that are commented out count too.
        let active = text.split(separator: "\n").map { line -> String in
            line.hasPrefix("# ") && line.contains(": ") && !line.contains(". ")
                ? String(line.dropFirst(2)) : String(line)
        }
        let node = try YAMLNode.parse(active.filter { !$0.hasPrefix("#") }.joined(separator: "\n"))
        let known = Commands.all.flatMap(\.options).compactMap(\.configKey)
        try ConfigFile(path: "config/agentctl.yaml", root: node).check(against: known)
        let documented = Set((node.entries ?? []).map(\.key))
        #expect(Set(known).subtracting(documented) == [], "every setting is documented")
    }

    @Test func helpAndCompletionsKnowEveryOption() throws {
        for command in Commands.all {
            let help = Help.command(command)
            for option in command.options {
                #expect(help.contains("--\(option.name)") || help.contains("]\(option.name)"))
            }
            #expect(help.split(separator: "\n").allSatisfy { $0.count <= 110 })
        }
        for shell in Completions.shells {
            let script = try #require(Completions.script(for: shell, Commands.all))
            for option in TalkCommand.spec.options { #expect(script.contains(option.name)) }
        }
        #expect(ManPage.text(Commands.all, version: "1").contains("\\-\\-trailing\\-silence"))
    }

    @Test func suggestionsAreNearOrNone() {
        #expect(Suggestion.nearest(to: "tlak", among: ["talk", "token"]) == "talk")
        #expect(Suggestion.nearest(to: "zzzz", among: ["talk", "token"]) == nil)
        #expect(Suggestion.distance("", "abc") == 3)
    }
}
