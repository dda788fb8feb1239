import LoopCore
import Testing

@testable import AudioPipeline

@Suite struct EchoDelayTests {
    /// What is told after a delay of `milliseconds` in each of so many seconds of frames.
    private func tell(_ delay: inout EchoDelay, seconds: Double, _ milliseconds: (Int) -> Double) -> Set<Int> {
        var told: Set<Int> = []
        for frame in 0..<Int(seconds * 100) {
            told.insert(delay.update(.nanoseconds(Int64(milliseconds(frame) * 1e6))))
        }
        return told
    }

    @Test func isLessThanTold() {
        var delay = EchoDelay()
        #expect(tell(&delay, seconds: 1) { _ in 120 } == [80])
    }

    @Test func staysWhileDevicesWaver() {
        var delay = EchoDelay()
        #expect(tell(&delay, seconds: 20) { 100 + ($0 % 2 == 0 ? 15 : -15) }.count == 1)
    }

    @Test func followsWhatLasts() throws {
        var delay = EchoDelay()
        _ = tell(&delay, seconds: 5) { _ in 80 }
        _ = tell(&delay, seconds: 5) { _ in 180 }
        let told = delay.update(.milliseconds(180))
        #expect(abs(told - 140) <= 20, "\(told) ms")
    }

    @Test func staysInBounds() {
        for told in [Duration.milliseconds(-500), .zero, .milliseconds(10), .seconds(3), .seconds(Int64.max)] {
            var delay = EchoDelay()
            #expect((0...459).contains(delay.update(told)))
        }
    }
}
