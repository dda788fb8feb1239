import LoopCore
import Testing

@testable import AudioPipeline

@Suite struct DriftEstimatorTests {
    /// Stamps every 10 ms of a device that is fast by `ppm`; the noise is seconds by which each is late.
    private func feed(
        _ estimator: inout DriftEstimator, ppm: Double, seconds: ClosedRange<Double>, rate: Int = 48_000,
        skipped: Int = 0, late: (Int) -> Double
    ) {
        let period = rate / 100
        for tick in Int(seconds.lowerBound * 100)...Int(seconds.upperBound * 100) {
            let frames = tick * period
            let time = Double(frames) / Double(rate) / (1 + ppm / 1e6) + late(tick)
            estimator.add(frames: frames - skipped, at: MonotonicTime(nanoseconds: Int64(time * 1e9)))
        }
    }

    @Test(arguments: [-500.0, -80, 0, 37, 300], [44_100, 48_000]) func findsTheDrift(ppm: Double, rate: Int) throws {
        for seed in UInt64(1)...20 {
            var random = SeededGenerator(seed: seed)
            var estimator = DriftEstimator(rate: rate)
            feed(&estimator, ppm: ppm, seconds: 0...10, rate: rate) { _ in
                Double.random(in: 0...0.002, using: &random)
            }
            let found = try #require(estimator.ppm)
            #expect(abs(found - ppm) < 5, "found \(found)")
        }
    }

    /// A few stamps are early, and some late by 15 ms.
    @Test func bearsStrays() throws {
        var random = SeededGenerator(seed: 3)
        var estimator = DriftEstimator(rate: 48_000)
        feed(&estimator, ppm: 60, seconds: 0...10) { tick in
            if tick == 950 { return -0.008 }
            if tick % 37 == 0 { return 0.015 }
            if tick == 500 { return 0.3 }
            return Double.random(in: 0...0.001, using: &random)
        }
        let found = try #require(estimator.ppm)
        #expect(abs(found - 60) < 5, "found \(found)")
        #expect(estimator.seconds > 9)
    }

    /// What has no edge to lie against is averaged: no worse than that.
    @Test func bearsNoiseWithoutAnEdge() throws {
        for seed in UInt64(1)...20 {
            var random = SeededGenerator(seed: seed)
            var estimator = DriftEstimator(rate: 48_000)
            feed(&estimator, ppm: 60, seconds: 0...30) { _ in
                (0..<12).reduce(-0.003) { sum, _ in sum + Double.random(in: 0...0.0005, using: &random) }
            }
            #expect(abs(try #require(estimator.ppm) - 60) < 25)
        }
    }

    @Test func aPauseBeginsAnew() throws {
        var estimator = DriftEstimator(rate: 48_000)
        feed(&estimator, ppm: 100, seconds: 0...10) { _ in 0 }
        #expect(estimator.ppm != nil)
        feed(&estimator, ppm: 100, seconds: 12...13) { _ in 0 }
        #expect(estimator.ppm == nil)
        feed(&estimator, ppm: 100, seconds: 13...23) { _ in 0 }
        #expect(abs(try #require(estimator.ppm) - 100) < 1)
        #expect(estimator.seconds < 12)
    }

    @Test func lostFramesBeginAnew() throws {
        var estimator = DriftEstimator(rate: 48_000)
        feed(&estimator, ppm: 0, seconds: 0...10) { _ in 0 }
        // 100 ms were lost, and nothing was late.
        feed(&estimator, ppm: 0, seconds: 10.01...20, skipped: 4_800) { _ in 0 }
        #expect(abs(try #require(estimator.ppm)) < 1)
        #expect(estimator.seconds < 10.5)
    }

    @Test func aCounterThatGoesBackBeginsAnew() {
        var estimator = DriftEstimator(rate: 48_000)
        feed(&estimator, ppm: 0, seconds: 0...10) { _ in 0 }
        feed(&estimator, ppm: 0, seconds: 10.01...11, skipped: 400_000) { _ in 0 }
        #expect(estimator.ppm == nil)
    }

    @Test func aShortTimeSaysNothing() {
        var estimator = DriftEstimator(rate: 48_000)
        #expect(estimator.ppm == nil)
        feed(&estimator, ppm: 0, seconds: 0...2) { _ in 0 }
        #expect(estimator.ppm == nil)
    }

    @Test func keepsTheLastMinute() {
        var estimator = DriftEstimator(rate: 48_000)
        feed(&estimator, ppm: 50, seconds: 0...150) { _ in 0 }
        #expect(estimator.seconds < 65)
        #expect(abs((estimator.ppm ?? 0) - 50) < 1)
    }
}
