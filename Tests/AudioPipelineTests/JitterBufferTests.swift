import LoopCore
import Testing

@testable import AudioPipeline

@Suite struct JitterBufferTests {
    @Test func aCleanNetworkIsPlayedWholeAndSoon() {
        for pullFrames in [480, 960] {
            let log = PlayoutLog(NetworkSimulation(pullFrames: pullFrames))
            #expect(log.isInOrder)
            #expect(log.played.count >= 995)
            #expect(log.played.first == 0)
            #expect(log.concealed == 0)
            #expect(log.recovered == 0)
            #expect(log.statistics.lost == 0)
            #expect(log.statistics.late == 0)
            // The network itself takes 5 ms.
            #expect(log.delays.allSatisfy { $0 <= 5 + 51 })
            #expect(log.delays.dropFirst(150).allSatisfy { $0 <= 5 + 40 }, "\(log.delays.dropFirst(150).max() ?? 0)")
            #expect(log.statistics.currentDelay <= .milliseconds(40))
            #expect(log.statistics.targetDelay == .milliseconds(20))
        }
    }

    @Test(arguments: [0, 0.01, 0.05, 0.1, 0.2, 0.3], [0, 10, 40, 100, 200]) func lossAndJitter(
        loss: Double, jitter: Double
    ) {
        for seed: UInt64 in [1, 2] {
            let simulation = NetworkSimulation(seed: seed, seconds: 30, loss: loss, jitter: jitter, duplicates: 0.02)
            let log = PlayoutLog(simulation)
            let comment: Comment = "seed \(seed), loss \(loss), jitter \(jitter): \(log.statistics)"
            #expect(log.isInOrder, comment)
            // Delay bounded: what the network does, plus the waiting that it makes necessary.
            let bound = 5 + jitter + 80
            let settled = log.delays.dropFirst(250)
            #expect((settled.max() ?? 0) <= bound, comment)
            // All that arrives is played, but for a few late ones.
            let lateShare = Double(log.statistics.late) / Double(max(1, log.statistics.received))
            #expect(lateShare < 0.06, comment)
            #expect(log.statistics.concealedShare < loss + 0.09, comment)
            #expect(log.statistics.concealedShare >= loss * 0.6, comment)
            #expect(log.statistics.duplicates > 0, comment)
            #expect(log.statistics.resets == 0, comment)
        }
    }

    @Test func jitterWithoutReorderingComesInClumps() {
        for seed: UInt64 in 1...4 {
            let log = PlayoutLog(NetworkSimulation(seed: seed, seconds: 30, jitter: 120, reorders: false))
            #expect(log.isInOrder)
            #expect(log.statistics.concealedShare < 0.05)
            #expect(log.delays.dropFirst(250).allSatisfy { $0 < 5 + 120 + 80 })
        }
    }

    @Test func redundantCopiesFillTheGaps() {
        let without = PlayoutLog(NetworkSimulation(seconds: 30, loss: 0.1))
        let with = PlayoutLog(NetworkSimulation(seconds: 30, loss: 0.1, redundancy: 2))
        #expect(with.isInOrder)
        #expect(without.statistics.concealedShare > 0.07)
        #expect(with.statistics.concealedShare < 0.02, "\(with.statistics)")
        #expect(with.statistics.recoveredByRED > 100)
        #expect(with.statistics.duplicates == 0)
    }

    @Test(arguments: [200.0, -200, 1_000, -1_000]) func clockDriftIsFollowed(ppm: Double) {
        let log = PlayoutLog(NetworkSimulation(seconds: 300, jitter: 5, driftPPM: ppm))
        #expect(log.isInOrder)
        // The delay against the receiver's clock stays put: it does not grow or shrink by the 60 ms of drift.
        #expect(log.statistics.currentDelay <= .milliseconds(45), "\(log.statistics)")
        #expect(log.statistics.concealedShare < 0.005, "\(log.statistics)")
        #expect(log.statistics.late == 0)
        #expect(log.statistics.discarded == 0)
        #expect(log.played.count >= 14_900)
    }

    @Test func numbersWrapAround() {
        let log = PlayoutLog(
            NetworkSimulation(
                seconds: 20, loss: 0.02, jitter: 30, firstSequence: 65_400, firstTimestamp: UInt32.max - 96_000))
        #expect(log.isInOrder)
        #expect(log.played.count > 940)
        #expect(log.statistics.resets == 0)
        #expect(log.statistics.concealedShare < 0.06)
    }

    @Test func aPauseOfTheSenderIsNoLoss() {
        let log = PlayoutLog(NetworkSimulation(seconds: 20, jitter: 10, pauses: [3...3.4, 6...9, 12...12.1]))
        #expect(log.isInOrder)
        #expect(log.statistics.lost == 0)
        #expect(log.statistics.concealedFrames == 0, "\(log.statistics)")
        #expect(log.statistics.comfortFrames > 0)
        #expect(log.statistics.late == 0)
        #expect(log.delays.dropFirst(100).allSatisfy { $0 < 60 })
    }

    @Test func aStallIsCaughtUpWith() {
        let log = PlayoutLog(NetworkSimulation(seconds: 20, stall: 5...7))
        #expect(log.isInOrder)
        #expect(log.statistics.discarded > 0)
        #expect(log.delays.allSatisfy { $0 <= 5 + 400 + 200 + 25 }, "\(log.delays.max() ?? 0)")
        #expect(log.delays.suffix(200).allSatisfy { $0 < 150 }, "\(log.delays.suffix(200).max() ?? 0)")
        // A short stall loses nothing.
        let short = PlayoutLog(NetworkSimulation(seconds: 20, stall: 5...5.2))
        #expect(short.statistics.discarded == 0)
        #expect(short.statistics.lost == 0, "\(short.statistics)")
        #expect(short.played.count > 980)
        #expect(short.statistics.concealedMilliseconds < 250)
    }

    @Test(arguments: [50.0, 150, 300, 450, 700, 3_000]) func aLongerPathIsGotUsedTo(milliseconds: Double) {
        let log = PlayoutLog(NetworkSimulation(seconds: 30, jitter: 5, step: (5, milliseconds)))
        #expect(log.isInOrder)
        // The gap itself is made up for once; after that nothing is.
        #expect(log.statistics.concealedMilliseconds < min(milliseconds, 500) + 60, "\(log.statistics)")
        #expect(log.delays.suffix(250).allSatisfy { $0 < 5 + milliseconds + 80 }, "\(log.delays.last ?? 0)")
        #expect(log.statistics.lost <= 2)
    }

    /// A frame for feeding by hand: arrives at its media time plus 5 ms.
    private func frame(_ index: Int, offset: Int = 0, ssrc: UInt32 = 1, at milliseconds: Double? = nil)
        -> JitterBuffer.Frame
    {
        JitterBuffer.Frame(
            payload: PlayoutLog.payload(index), timestamp: UInt32(truncatingIfNeeded: index * 960 + offset),
            sequenceNumber: UInt16(truncatingIfNeeded: index + offset), ssrc: ssrc,
            arrival: time(milliseconds ?? Double(index * 20 + 5)))
    }

    private func time(_ milliseconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + Int64(milliseconds * 1e6))
    }

    @Test func silenceBeforeTheFirstPacket() {
        var buffer = JitterBuffer()
        #expect(buffer.pull(at: time(0)) == .silence(frames: 480))
        #expect(buffer.pull(at: time(1_000_000)) == .silence(frames: 480))
        #expect(
            buffer.statistics
                == {
                    var s = PlayoutStatistics(); s.targetDelay = .milliseconds(40); return s
                }())
    }

    /// Feeds `range` in real time and returns the indices that were played.
    private func play(
        _ buffer: inout JitterBuffer, _ range: Range<Int>, offset: Int = 0, ssrc: UInt32 = 1
    ) -> (indices: [Int], newStreams: Int) {
        var indices: [Int] = []
        var newStreams = 0
        for index in range {
            buffer.insert(frame(index, offset: offset, ssrc: ssrc))
            if case .play(let payload, _, let isNew, _) = buffer.pull(at: time(Double(index * 20 + 6))) {
                indices.append(PlayoutLog.index(payload))
                newStreams += isNew ? 1 : 0
            }
        }
        return (indices, newStreams)
    }

    @Test func anotherSourceBeginsAnew() {
        var buffer = JitterBuffer()
        let first = play(&buffer, 0..<50)
        let second = play(&buffer, 50..<100, offset: 7_777, ssrc: 2)
        #expect(first.newStreams == 1)
        #expect(second.newStreams == 1)
        #expect(second.indices.first == 50)
        #expect(second.indices.count > 40)
        #expect(buffer.statistics.resets == 1)
    }

    @Test func timestampsThatJumpBackBeginAnew() {
        var buffer = JitterBuffer()
        _ = play(&buffer, 0..<50, offset: 40_000_000)
        let second = play(&buffer, 50..<150, offset: 123)
        #expect(second.newStreams == 1)
        #expect(second.indices.count > 80)
        #expect(buffer.statistics.resets == 1)
    }

    @Test func timestampsThatJumpAheadGoOn() {
        var buffer = JitterBuffer()
        _ = play(&buffer, 0..<50)
        let second = play(&buffer, 50..<150, offset: 48_000 * 3_600)
        #expect(second.indices.count > 80)
        #expect(second.indices.last ?? 0 > 140)
    }

    @Test func neverMoreThanItsCapacity() {
        var buffer = JitterBuffer()
        for index in 0..<5_000 { buffer.insert(frame(index, at: 5)) }
        #expect(buffer.count <= JitterBuffer.capacity)
    }

    @Test func garbageIsCountedAndDropped() {
        var buffer = JitterBuffer()
        buffer.insert(JitterBuffer.Frame(payload: [], timestamp: 0, sequenceNumber: 0, arrival: time(0)))
        buffer.insert(JitterBuffer.Frame(payload: [3], timestamp: 0, sequenceNumber: 1, arrival: time(0)))
        #expect(buffer.statistics.invalid == 2)
        #expect(buffer.count == 0)
    }

    /// Any numbers in any order: no crash, no endless loop, bounded.
    @Test func randomPacketsNeverCrash() {
        var generator = SeededGenerator(seed: 9)
        var buffer = JitterBuffer()
        var now = 0.0
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...6, using: &generator)
            buffer.insert(
                JitterBuffer.Frame(
                    payload: (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) },
                    timestamp: UInt32.random(in: 0...UInt32.max, using: &generator),
                    sequenceNumber: UInt16.random(in: 0...UInt16.max, using: &generator),
                    isRedundant: Bool.random(using: &generator),
                    ssrc: UInt32.random(in: 0...100, using: &generator) == 0 ? 2 : 1,
                    arrival: time(now + Double.random(in: -500...500, using: &generator))))
            now += 7
            let output = buffer.pull(at: time(now), buffered: Int.random(in: 0...960, using: &generator))
            switch output {
            case .silence(let frames), .conceal(let frames, _): #expect(frames >= 120)
            case .recover(_, _, let keeping): #expect(keeping >= 120)
            case .play(_, let frames, _, _): #expect(frames >= 120)
            }
            #expect(buffer.count <= JitterBuffer.capacity)
        }
    }
}
