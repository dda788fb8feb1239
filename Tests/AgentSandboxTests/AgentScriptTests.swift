import AgentCore
import Foundation
import Testing

@testable import AgentSandbox

@Suite struct AgentScriptTests {
    @Test func theEmbeddedScriptIsTheFile() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = try String(contentsOf: root.appendingPathComponent("config/sandbox-agent.yaml"), encoding: .utf8)
        #expect(file == AgentScript.defaultYAML)
        #expect(try AgentScript(yaml: file) == .default)
    }

    @Test func readsEveryKey() throws {
        let script = try AgentScript(
            yaml: """
                identity: bot
                name: Bot
                agent_name: helper
                voice: de
                words_per_minute: 120
                pitch: 10
                greeting: "Hallo."
                echo: true
                interruptible: false
                end_of_turn: 900
                legacy_transcription: no
                fallback: "Was?"
                fallback_transcript: "..."
                turns: [{expect: a, reply: b, think: 0}, {expect: c, reply: d}]
                """)
        #expect(script.identity == "bot")
        #expect(script.agentName == "helper")
        #expect(script.voice.name == "de")
        #expect(script.voice.wordsPerMinute == 120)
        #expect(script.voice.pitch == 10)
        #expect(script.greeting == "Hallo.")
        #expect(script.echoes)
        #expect(!script.allowsInterruption)
        #expect(script.endOfTurn == .milliseconds(900))
        #expect(!script.sendsLegacyTranscription)
        #expect(script.turns.map(\.reply) == ["b", "d"])
        #expect(script.turns.map(\.think) == [.zero, .milliseconds(200)])
        #expect(try AgentScript(yaml: "") == AgentScript())
    }

    @Test(arguments: [
        ("nonsense: 1", "1:1"), ("name: Bot\npitch: 200", "2:8"), ("echo: maybe", "1:7"), ("- a", "1:1"),
        ("turns: 3", "1:8"), ("turns:\n  - expect: a", "2:5"),
        ("turns:\n  - expect: a\n    reply: b\n    wait: 1", "4:5"),
        ("identity: \"\"", "1:11"), ("name: [a]", "1:7"),
    ])
    func saysWhereAScriptIsWrong(text: String, place: String) {
        #expect { try AgentScript(yaml: text) } throws: { error in
            (error as? YAMLError)?.place.description == place
        }
    }
}
