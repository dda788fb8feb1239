import Testing

@testable import AgentCore

/// Files of scenarios: what they mean, and where they are wrong.
@Suite struct ScenarioLoaderTests {
    private func load(
        _ text: String, others: [String: String] = [:], variables: [String: String] = [:]
    ) throws(ScenarioError) -> [Scenario] {
        let files = others.merging(["dir/main.yaml": text]) { $1 }
        let loader = ScenarioLoader(variables: variables) { path throws(ScenarioError) in
            guard let text = files[path] else { throw ScenarioError("the file \(path) cannot be read", at: nil) }
            return text
        }
        return try loader.scenarios(in: "dir/main.yaml")
    }

    private func failure(
        _ text: String, others: [String: String] = [:], variables: [String: String] = [:]
    ) -> String {
        do throws(ScenarioError) {
            _ = try load(text, others: others, variables: variables)
            return "(no error)"
        } catch {
            return error.description
        }
    }

    @Test func everyKeyIsRead() throws {
        let scenario = try #require(
            try load(
                """
                name: All of it
                description: what there is
                tags: [smoke, speech]
                time_limit: 90s
                retries: 2
                repeat: 3
                start: at_once
                agent: {name: support, metadata: free}
                attributes: {plan: free}
                voice: {name: de, words_per_minute: 200, pitch: 30}
                sandbox: {greeting: Hi}
                tools:
                  - {name: a, reply: {ok: true, n: 1.5, list: [x]}}
                  - {name: b, reply: "plain text"}
                steps:
                  - say: Hello
                    within: 5s
                  - play: {file: hello.wav, from: 1s, to: 1500ms}
                  - send: typed
                  - wait_for: reply
                  - wait_for: {agent_silence: 2}
                  - wait_for: {state: listening}
                    within: 1m
                  - wait_for: {transcript: {matches: '\\d+', speaker: user, final: true}}
                  - wait_for: {tool_call: {name: a, arguments: {id: 7}}}
                  - wait_for: {participant_joined: someone}
                  - wait_for: agent_left
                  - barge_in: Stop
                    on: morning
                  - barge_in: {play: stop.wav}
                    after: 800ms
                  - pause: 1.5s
                  - mute
                  - unmute
                  - expect: {text: nine, latency: 2s, scope: session}
                    within: 1s
                  - hang_up
                expect:
                  - text: {words: We are open, word_error_rate: 0.2}
                  - states: [thinking, speaking]
                  - tool_call: {name: a, times: 1}
                  - no_overlap: {at_most: 100ms}
                  - audible: {speaker: user, at_least: 1s}
                  - stops_within: 700ms
                """
            ).first)
        #expect(scenario.name == "All of it")
        #expect(scenario.tags == ["smoke", "speech"])
        #expect(scenario.timeLimit == .seconds(90) && scenario.retries == 2 && scenario.repeats == 3)
        #expect(scenario.start == .atOnce)
        #expect(scenario.agent == .init(name: "support", metadata: "free"))
        #expect(scenario.attributes == ["plan": "free"])
        #expect(scenario.voice.name == "de" && scenario.voice.wordsPerMinute == 200 && scenario.voice.pitch == 30)
        #expect(scenario.sandbox?.script["greeting"]?.string == "Hi")
        #expect(scenario.tools.map(\.reply) == [#"{"ok":true,"n":1.5,"list":["x"]}"#, "plain text"])
        let expected: [ScenarioStep.Action] = [
            .speak(.init(.words("Hello"))),
            .speak(.init(.file("dir/hello.wav", from: .seconds(1), to: .milliseconds(1500)))), .send("typed"),
            .wait(.reply), .wait(.agentSilence(.seconds(2))), .wait(.state(.listening)),
            .wait(.transcript(.matches("\\d+"), speaker: .user, isFinal: true)),
            .wait(.toolCall(.init(name: "a", arguments: .object([("id", .integer(7))])))),
            .wait(.participantJoined("someone")), .wait(.agentLeft),
            .bargeIn(.init(.words("Stop")), .on("morning")),
            .bargeIn(.init(.file("dir/stop.wav", from: nil, to: nil)), .after(.milliseconds(800))),
            .pause(.milliseconds(1500)), .mute(true), .mute(false),
        ]
        #expect(Array(scenario.steps.prefix(15).map(\.action)) == expected)
        #expect(scenario.steps[0].limit == .seconds(5))
        #expect(scenario.steps[0].place == ScenarioPlace(file: "dir/main.yaml", line: 16, column: 5))
        guard case .expect(let checks) = scenario.steps[15].action else {
            Issue.record("no expectations")
            return
        }
        #expect(
            checks.map(\.kind) == [
                .text(.contains(["nine"]), speaker: .agent), .latency(firstAudio: .seconds(2), firstText: nil),
            ])
        #expect(checks.allSatisfy { $0.scope == .session })
        #expect(
            scenario.expectations.map(\.kind) == [
                .text(.words("We are open", errorRate: 0.2), speaker: .agent), .states([.thinking, .speaking]),
                .toolCall(.init(name: "a"), times: 1), .noOverlap(.milliseconds(100)),
                .audible(.seconds(1), speaker: .user), .stopsWithin(.milliseconds(700)),
            ])
    }

    @Test func filesMayHoldSeveralScenariosThatShareKeys() throws {
        let scenarios = try load(
            """
            tags: [all]
            variables: {who: you}
            scenarios:
              - name: first
                tags: [one]
                steps: [{send: "hello ${who}"}]
              - name: second
                variables: {who: me}
                steps: [{send: "hello ${who}"}]
            """)
        #expect(scenarios.map(\.name) == ["first", "second"])
        #expect(scenarios.map(\.tags) == [["all", "one"], ["all"]])
        #expect(scenarios.map { $0.steps[0].action } == [.send("hello you"), .send("hello me")])
    }

    @Test func includedFilesGiveKeysAndSteps() throws {
        let others = [
            "dir/sub/base.yaml": "tags: [base]\ninclude: deeper.yaml\nretries: 1\ntools: [{name: t, reply: base}]\n",
            "dir/sub/deeper.yaml": "retries: 5\nvoice: de\nvariables: {greeting: Hallo}\n",
            "dir/steps.yaml": "steps:\n  - say: ${greeting}\n  - include: sub/more.yaml\n",
            "dir/sub/more.yaml": "- pause: 1s\n- play: x.wav\n",
        ]
        let scenario = try #require(
            try load(
                "include: sub/base.yaml\ntags: [own]\nsteps:\n  - include: steps.yaml\n  - hang_up\n", others: others
            ).first)
        #expect(scenario.name == "main")
        #expect(scenario.tags == ["base", "own"])
        #expect(scenario.retries == 1 && scenario.voice.name == "de")
        #expect(scenario.tools == [.init(name: "t", reply: "base")])
        #expect(
            scenario.steps.map(\.action) == [
                .speak(.init(.words("Hallo"))), .pause(.seconds(1)),
                .speak(.init(.file("dir/sub/x.wav", from: nil, to: nil))), .hangUp,
            ])
        #expect(scenario.steps[1].place == ScenarioPlace(file: "dir/sub/more.yaml", line: 1, column: 3))
    }

    @Test func variablesComeFromTheCommandLineFirst() throws {
        let text = "variables: {a: one, b: '${a} and two'}\nsteps: [{send: '${b} $${a} $5'}]\nretries: ${n}\n"
        let scenario = try #require(try load(text, variables: ["a": "1", "n": "4"]).first)
        #expect(scenario.steps[0].action == .send("1 and two ${a} $5"))
        #expect(scenario.retries == 4)
    }

    @Test(arguments: [
        ("steps: [{sya: hi}]", "dir/main.yaml:1:10: sya is no step. Did you mean say?"),
        ("stepz: []", "dir/main.yaml:1:1: unknown key stepz in a scenario. Did you mean steps?"),
        ("name: x", "dir/main.yaml:1:1: the scenario x has no steps"),
        ("steps: []", "dir/main.yaml:1:8: steps has to have 1 to 1000 steps"),
        (
            "steps:\n  - say: hi\n    witin: 2s",
            "dir/main.yaml:3:5: unknown key witin in the step say. Did you mean within?"
        ),
        ("steps:\n  - say: hi\n    pause: 2s", "dir/main.yaml:3:5: say and pause are two steps; put a - before each"),
        ("steps:\n  - pause: soon", "dir/main.yaml:2:12: pause has to be a time of at most an hour"),
        ("steps:\n  - wait_for: replyy", "dir/main.yaml:2:15: replyy cannot be waited for. Did you mean reply?"),
        ("steps:\n  - wait_for: state", "dir/main.yaml:2:15: state needs a value"),
        ("steps: [{expect: {text: {matches: '('}}}]", "dir/main.yaml:1:35: ( is no regular expression"),
        ("steps: [{expect: {}}]", "dir/main.yaml:1:18: expect says nothing"),
        ("steps: [{expect: {text: {contains: a, lacks: b}}}]", "text needs one of contains, lacks, matches, words"),
        ("steps: [{barge_in: x, after: 1s, on: y}]", "after and on are two moments; give one"),
        ("steps: [hang_up]\nretries: -1", "dir/main.yaml:2:10: retries has to be a whole number from 0 to 20"),
        ("steps: [hang_up]\nstart: later", "dir/main.yaml:2:8: start is later; it has to be one of agent, at_once"),
        (
            "steps: [{send: '${nmae}'}]\nvariables: {name: x}",
            "dir/main.yaml:1:16: there is no variable nmae. Did you mean name?"
        ),
        ("steps: [{send: '${x'}]", "dir/main.yaml:1:16: ${ has no } after it"),
        ("steps: [hang_up", "dir/main.yaml:2:1: did not find"),
        ("steps: [hang_up]\nsteps: [hang_up]", "dir/main.yaml:2:1: the key steps is there twice"),
        ("include: no.yaml\nsteps: [hang_up]", "dir/main.yaml:1:10: the file dir/no.yaml cannot be read"),
        ("include: main.yaml\nsteps: [hang_up]", "dir/main.yaml:1:10: dir/main.yaml includes itself"),
        (
            "include: typo.yaml\nsteps: [hang_up]",
            "dir/typo.yaml:2:1: unknown key tag in a scenario. Did you mean tags?"
        ),
        ("steps: [{include: typo.yaml}]", "dir/typo.yaml:1:1: the file has no steps to include"),
        (
            "scenarios:\n  - {name: a, steps: [hang_up]}\n  - {name: a, steps: [hang_up]}",
            "dir/main.yaml:3:5: a scenario named a is there"
        ),
    ])
    func mistakesAreToldWithTheirPlace(text: String, message: String) {
        let told = failure(text, others: ["dir/typo.yaml": "name: y\ntag: x\n"])
        #expect(told.contains(message), "\(told)")
    }
}
