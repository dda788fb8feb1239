import Foundation

/// Signals and measures for the tests. All at 48 kHz unless a rate is given.
enum Signals {
    /// A sine of `frequency` Hz; `level` in dB below full scale (a sine at 0 dB peaks at full scale).
    static func tone(_ frequency: Double, frames: Int, rate: Int = 48_000, level: Double = -6) -> [Int16] {
        let amplitude = 32_767 * pow(10, level / 20)
        return (0..<frames).map { index in
            Int16((amplitude * sin(2 * .pi * frequency * Double(index) / Double(rate))).rounded())
        }
    }

    /// Something like speech: syllables of a gliding voiced tone with harmonics, with pauses. Deterministic.
    static func speechLike(frames: Int) -> [Int16] {
        var phase = 0.0
        return (0..<frames).map { index in
            let time = Double(index) / 48_000
            let pitch = 120 + 30 * sin(2 * .pi * 0.7 * time)
            phase += 2 * .pi * pitch / 48_000
            let syllable = max(0, sin(2 * .pi * 2.5 * time))
            var value = 0.0
            for harmonic in 1...12 { value += sin(phase * Double(harmonic)) / Double(harmonic) }
            return Int16((5_000 * syllable * value).rounded())
        }
    }

    /// The frequency of a steady tone, from its zero crossings (Hz).
    static func frequency(of samples: [Int16], rate: Int = 48_000) -> Double {
        var crossings: [Double] = []
        for index in 1..<max(1, samples.count) where samples[index - 1] < 0 && samples[index] >= 0 {
            let before = Double(samples[index - 1])
            let after = Double(samples[index])
            crossings.append(Double(index - 1) + before / (before - after))
        }
        guard crossings.count > 1, let first = crossings.first, let last = crossings.last else { return 0 }
        return Double(crossings.count - 1) / (last - first) * Double(rate)
    }

    /// The RMS in dB below a full-scale sine.
    static func level(of samples: [Int16]) -> Double {
        let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
        guard energy > 0 else { return -200 }
        return 10 * log10(energy / Double(samples.count) / (32_767 * 32_767 / 2))
    }

    /// By how many samples `signal` lags `reference` (within `range`), by correlation.
    static func lag(
        of signal: [Int16], behind reference: [Int16], range: ClosedRange<Int>, from start: Int = 0,
        length: Int = 4_800
    ) -> Int {
        var best = (lag: 0, value: -Double.infinity)
        for lag in range {
            var product = 0.0
            var energy = 1e-9
            for index in start..<min(reference.count, start + length) {
                let other = index + lag
                guard other >= 0, other < signal.count else { continue }
                product += Double(reference[index]) * Double(signal[other])
                energy += Double(signal[other]) * Double(signal[other])
            }
            let value = product / energy.squareRoot()
            if value > best.value { best = (lag, value) }
        }
        return best.lag
    }

    /// The ratio in dB of `reference` to what `signal` differs from it, with the best gain taken out.
    static func snr(of signal: ArraySlice<Int16>, against reference: ArraySlice<Int16>) -> Double {
        var cross = 0.0
        var power = 0.0
        var own = 0.0
        for (a, b) in zip(reference, signal) {
            cross += Double(a) * Double(b)
            power += Double(a) * Double(a)
            own += Double(b) * Double(b)
        }
        guard power > 0, own > 0 else { return -200 }
        let residual = max(1e-9, own - cross * cross / power)
        return 10 * log10((own - residual) / residual)
    }

    /// The largest step between neighbouring samples.
    static func largestStep(in samples: some Collection<Int16>) -> Int {
        var largest = 0
        var last: Int?
        for sample in samples {
            if let last { largest = max(largest, abs(Int(sample) - last)) }
            last = Int(sample)
        }
        return largest
    }
}

/// A generator whose numbers depend on the seed alone (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
