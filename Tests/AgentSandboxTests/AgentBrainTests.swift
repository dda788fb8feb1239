import LoopCore
import Testing

@testable import AgentSandbox

@Suite struct AgentBrainTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private func script() -> AgentScript {
        var script = AgentScript()
        script.turns = [
            .init(expect: "Hello there friend", reply: "Hi.", think: .milliseconds(100)),
            .init(expect: "Goodbye", reply: "Bye.", think: .milliseconds(100)),
        ]
        return script
    }

    @Test func aSpokenTurn() {
        var brain = AgentBrain(script: script())
        #expect(brain.handle(.ready, now: time(0)) == [.state(.listening)])
        #expect(brain.handle(.speechStarted, now: time(1000)) == [])
        #expect(brain.handle(.tick, now: time(1200)) == [])
        #expect(
            brain.handle(.tick, now: time(1400)) == [.transcribe(segment: 1, text: "Hello", isFinal: false)])
        #expect(brain.handle(.tick, now: time(1420)) == [])
        #expect(
            brain.handle(.tick, now: time(3000)) == [.transcribe(segment: 1, text: "Hello there", isFinal: false)])
        #expect(
            brain.handle(.speechEnded, now: time(3100)) == [
                .transcribe(segment: 1, text: "Hello there friend", isFinal: false),
                .transcribe(segment: 1, text: "Hello there friend", isFinal: true), .state(.thinking),
            ])
        #expect(brain.handle(.tick, now: time(3150)) == [])
        #expect(brain.handle(.tick, now: time(3200)) == [.state(.speaking), .say("Hi.")])
        #expect(brain.handle(.playbackEnded, now: time(4000)) == [.state(.listening)])
    }

    @Test func turnsComeInOrderAndThenTheFallback() {
        var brain = AgentBrain(script: script())
        _ = brain.handle(.ready, now: time(0))
        var said: [String] = []
        for turn in 0..<3 {
            let start = Int64(turn * 10_000)
            _ = brain.handle(.speechStarted, now: time(start))
            _ = brain.handle(.speechEnded, now: time(start + 1000))
            for output in brain.handle(.tick, now: time(start + 2000)) {
                if case .say(let text) = output { said.append(text) }
            }
            _ = brain.handle(.playbackEnded, now: time(start + 3000))
        }
        #expect(said == ["Hi.", "Bye.", script().fallback])
    }

    @Test func greetsOnceWhenTheUserCanHear() {
        var script = script()
        script.greeting = "Welcome."
        var brain = AgentBrain(script: script)
        #expect(
            brain.handle(.ready, now: time(0)) == [.state(.listening), .state(.speaking), .say("Welcome.")])
        #expect(brain.handle(.ready, now: time(1)) == [])
    }

    @Test func theUserMayInterrupt() {
        var brain = AgentBrain(script: script())
        _ = brain.handle(.ready, now: time(0))
        _ = brain.handle(.chat("goodbye!"), now: time(10))
        #expect(brain.handle(.tick, now: time(200)) == [.state(.speaking), .say("Bye.")])
        #expect(brain.handle(.speechStarted, now: time(300)) == [.stopSpeaking, .state(.listening)])
        // The end of what was cut off changes nothing.
        #expect(brain.handle(.playbackEnded, now: time(310)) == [])
        let outputs = brain.handle(.speechEnded, now: time(900))
        #expect(outputs.last == .state(.thinking))
        #expect(brain.handle(.tick, now: time(1100)).contains(.say("Hi.")))
    }

    @Test func anUninterruptibleAgentTalksOn() {
        var script = script()
        script.allowsInterruption = false
        var brain = AgentBrain(script: script)
        _ = brain.handle(.ready, now: time(0))
        _ = brain.handle(.chat("goodbye"), now: time(10))
        _ = brain.handle(.tick, now: time(200))
        #expect(brain.handle(.speechStarted, now: time(300)) == [])
        _ = brain.handle(.speechEnded, now: time(400))
        #expect(brain.state == .speaking)
    }

    @Test func speechDuringThinkingTakesTheAnswerBack() {
        var brain = AgentBrain(script: script())
        _ = brain.handle(.ready, now: time(0))
        _ = brain.handle(.speechStarted, now: time(100))
        _ = brain.handle(.speechEnded, now: time(200))
        #expect(brain.handle(.speechStarted, now: time(250)) == [.state(.listening)])
        #expect(brain.handle(.tick, now: time(260)) == [])
        _ = brain.handle(.speechEnded, now: time(400))
        #expect(brain.handle(.tick, now: time(500)).count == 2)
    }

    @Test func echoesWithoutWords() {
        var script = script()
        script.echoes = true
        var brain = AgentBrain(script: script)
        _ = brain.handle(.ready, now: time(0))
        _ = brain.handle(.speechStarted, now: time(100))
        #expect(brain.handle(.tick, now: time(3000)) == [])
        #expect(brain.handle(.speechEnded, now: time(3000)) == [.state(.thinking)])
        #expect(brain.handle(.tick, now: time(4000)) == [.state(.speaking), .playBack])
    }

    @Test func chatBeforeItIsReadyIsIgnored() {
        var brain = AgentBrain(script: script())
        #expect(brain.handle(.chat("goodbye"), now: time(0)) == [])
    }
}
