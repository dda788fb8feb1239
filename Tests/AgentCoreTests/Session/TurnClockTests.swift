import LoopCore
import Testing

@testable import AgentCore

@Suite struct TurnClockTests {
    private func at(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    @Test func aTurnHoldsItsFirstSoundAndItsFirstWord() {
        var clock = TurnClock()
        #expect(clock.userSpeechEnded(at: at(1000)) == nil)
        #expect(clock.agentHeard(at: at(1700))?.firstAudio == .milliseconds(700))
        #expect(clock.agentRead(at: at(1750))?.firstText == .milliseconds(750))
        #expect(clock.agentHeard(at: at(2500)) == nil, "a pause within the answer is not a new answer")
        #expect(clock.turns.count == 1)
        #expect(clock.turns[0].firstAudio == .milliseconds(700))
    }

    @Test func aGreetingIsNoAnswer() {
        var clock = TurnClock()
        #expect(clock.agentHeard(at: at(100)) == nil)
        #expect(clock.userSpeechEnded(at: at(1000)) == nil)
        #expect(clock.turns.isEmpty)
    }

    @Test func anAnswerFasterThanTheEndOfSpeechIsReported() {
        var clock = TurnClock()
        #expect(clock.agentHeard(at: at(1100)) == nil)
        #expect(clock.userSpeechEnded(at: at(1000))?.firstAudio == .milliseconds(100))
        #expect(clock.turns.count == 1)
    }

    @Test func eachSpeechWithAnAnswerIsATurn() {
        var clock = TurnClock()
        _ = clock.userSpeechEnded(at: at(1000))
        _ = clock.userSpeechEnded(at: at(2000))
        _ = clock.agentHeard(at: at(2500))
        _ = clock.userSpeechEnded(at: at(6000))
        _ = clock.agentHeard(at: at(6200))
        #expect(clock.turns.map(\.firstAudio) == [.milliseconds(500), .milliseconds(200)])
    }
}
