import AgentCore
import LoopCore
import Testing

@Suite struct TurnTakerTests {
    private var machine = TurnTaker()
    private let start = MonotonicTime(nanoseconds: 0)

    private func at(_ milliseconds: Int) -> MonotonicTime { start + .milliseconds(milliseconds) }

    /// Ticks every 50 ms until a decision comes; returns it with its time in ms.
    private func decide(_ machine: inout TurnTaker, from: Int, until: Int) -> (TurnTaker.Decision, Int)? {
        for time in stride(from: from, through: until, by: 50) {
            if let decision = machine.tick(now: at(time)) { return (decision, time) }
        }
        return nil
    }

    @Test func aQuietAgentIsSpokenToOnceItListensAndHears() {
        var machine = machine
        #expect(machine.handle(.ready, now: at(0)) == nil)
        #expect(machine.handle(.agentJoined, now: at(100)) == nil)
        #expect(machine.handle(.agentState(.listening), now: at(150)) == nil)
        #expect(decide(&machine, from: 150, until: 1000) == nil)
        #expect(machine.handle(.microphoneSubscribed, now: at(1000)) == .speak)
    }

    @Test func aGreetingIsHeardOut() throws {
        var machine = machine
        _ = machine.handle(.ready, now: at(0))
        _ = machine.handle(.agentJoined, now: at(0))
        _ = machine.handle(.microphoneSubscribed, now: at(0))
        _ = machine.handle(.agentState(.listening), now: at(10))
        #expect(machine.handle(.agentState(.speaking), now: at(90)) == nil)
        #expect(machine.handle(.agentAudible(true), now: at(100)) == nil)
        #expect(decide(&machine, from: 100, until: 3000) == nil)
        #expect(machine.handle(.agentAudible(false), now: at(3000)) == nil)
        #expect(machine.handle(.agentState(.listening), now: at(3100)) == nil)
        let (decision, time) = try #require(decide(&machine, from: 3100, until: 9000))
        #expect(decision == .speak)
        #expect(time == 3500)
    }

    @Test func anAnswerInTwoPhasesIsOneAnswer() throws {
        var machine = speaking()
        #expect(machine.handle(.inputFinished, now: at(5000)) == nil)
        _ = machine.handle(.agentState(.thinking), now: at(5100))
        _ = machine.handle(.agentState(.listening), now: at(5200))
        #expect(decide(&machine, from: 5200, until: 7000) == nil)
        _ = machine.handle(.agentState(.speaking), now: at(7000))
        _ = machine.handle(.agentAudible(true), now: at(7100))
        _ = machine.handle(.agentAudible(false), now: at(9000))
        _ = machine.handle(.agentState(.listening), now: at(9000))
        #expect(decide(&machine, from: 9000, until: 9500) == nil)
        _ = machine.handle(.agentState(.speaking), now: at(9600))
        _ = machine.handle(.agentState(.listening), now: at(11000))
        let (decision, time) = try #require(decide(&machine, from: 11000, until: 20000))
        #expect(decision == .complete)
        #expect(time == 12200)
    }

    @Test func aTextOnlyAnswerCounts() throws {
        var machine = speaking()
        _ = machine.handle(.inputFinished, now: at(5000))
        _ = machine.handle(.agentText, now: at(6000))
        let (decision, _) = try #require(decide(&machine, from: 6000, until: 9000))
        #expect(decision == .complete)
    }

    @Test func anAnswerWithinTheRecordingsLastSilenceCounts() throws {
        var machine = speaking()
        _ = machine.handle(.userSpeechEnded(at: at(3000)), now: at(3400))
        _ = machine.handle(.agentAudible(true), now: at(4000))
        _ = machine.handle(.agentAudible(false), now: at(6000))
        _ = machine.handle(.inputFinished, now: at(9000))
        let (decision, time) = try #require(decide(&machine, from: 9000, until: 20_000))
        #expect(decision == .complete)
        #expect(time == 10_200)

        // Speech after the answer wants another one.
        var again = speaking()
        _ = again.handle(.userSpeechEnded(at: at(3000)), now: at(3400))
        _ = again.handle(.agentAudible(true), now: at(4000))
        _ = again.handle(.agentAudible(false), now: at(5000))
        _ = again.handle(.userSpeechEnded(at: at(8000)), now: at(8400))
        _ = again.handle(.inputFinished, now: at(9000))
        #expect(decide(&again, from: 9000, until: 30_000) == nil)
    }

    @Test func failuresNameTheirLimit() throws {
        var machine = machine
        _ = machine.handle(.ready, now: at(0))
        let (decision, time) = try #require(decide(&machine, from: 0, until: 60_000))
        #expect(decision == .fail(.agentDidNotJoin(after: .seconds(20))))
        #expect(time == 20_000)

        var silent = speaking()
        _ = silent.handle(.inputFinished, now: at(5000))
        let (noReply, _) = try #require(decide(&silent, from: 5000, until: 60_000))
        #expect(noReply == .fail(.noReply(after: .seconds(30))))
        #expect(silent.tick(now: at(100_000)) == nil, "a machine that is over stays silent")
    }

    @Test func anAgentThatLeavesFailsTheTurnUnlessItAnswered() {
        var machine = speaking()
        #expect(machine.handle(.agentLeft, now: at(4000)) == .fail(.agentLeft))
        var answered = speaking()
        _ = answered.handle(.inputFinished, now: at(4000))
        _ = answered.handle(.agentAudible(true), now: at(4500))
        #expect(answered.handle(.agentLeft, now: at(5000)) == .complete)
    }

    @Test func anAgentThatNeverStopsTalkingIsInterrupted() throws {
        var machine = machine
        _ = machine.handle(.ready, now: at(0))
        _ = machine.handle(.agentJoined, now: at(0))
        _ = machine.handle(.agentAudible(true), now: at(10))
        let (decision, time) = try #require(decide(&machine, from: 50, until: 60_000))
        #expect(decision == .speak)
        #expect(time == 20_000)
    }

    private func speaking() -> TurnTaker {
        var machine = machine
        _ = machine.handle(.ready, now: at(0))
        _ = machine.handle(.agentJoined, now: at(0))
        _ = machine.handle(.microphoneSubscribed, now: at(0))
        _ = machine.handle(.agentState(.listening), now: at(0))
        _ = decide(&machine, from: 0, until: 2000)
        #expect(machine.phase == .speaking)
        return machine
    }
}
