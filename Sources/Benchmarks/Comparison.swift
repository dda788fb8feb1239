import AudioPipeline
import Foundation

/// Compares speech that came through a codec and a network with what was said.
enum Comparison {
    private static let block = 4_800

    /// `heard` laid beside `said`, block by block: playout may stretch and shorten, so each 100 ms is looked for near
    /// where the one before was found. Blocks of silence follow on.
    static func align(_ said: [Int16], with heard: [Int16]) -> [Int16] {
        var lag = coarseLag(said, heard)
        var result: [Int16] = []
        for start in stride(from: 0, to: said.count - block + 1, by: block) {
            let part = said[start..<(start + block)]
            if AudioLevel.decibels(part) > -45, let better = best(part, start, heard, around: lag, reach: 960) {
                lag = better
            }
            for index in start..<(start + block) {
                let position = index + lag
                result.append(heard.indices.contains(position) ? heard[position] : 0)
            }
        }
        return result
    }

    /// From where either becomes loud: the sentence repeats itself, so that likeness alone would not tell.
    private static func coarseLag(_ said: [Int16], _ heard: [Int16]) -> Int {
        func begin(_ samples: [Int16]) -> Int {
            stride(from: 0, to: samples.count - 480, by: 480).first {
                AudioLevel.decibels(samples[$0..<($0 + 480)]) > -35
            } ?? 0
        }
        let loud = begin(said)
        let part = said[loud..<min(said.count, loud + 5 * block)]
        let guess = begin(heard) - loud
        return best(part, loud, heard, around: guess, reach: 4_800) ?? guess
    }

    /// The lag at which `part`, which starts at `start`, fits best.
    private static func best(
        _ part: ArraySlice<Int16>, _ start: Int, _ heard: [Int16], around: Int, reach: Int
    ) -> Int? {
        let samples = Array(part)
        func likeness(_ lag: Int, every step: Int) -> Double {
            let from = start + lag
            guard from >= 0, from + samples.count <= heard.count else { return -1 }
            var cross = 0.0
            var energy = 1.0
            for index in stride(from: 0, to: samples.count, by: step) {
                let value = Double(heard[from + index])
                cross += Double(samples[index]) * value
                energy += value * value
            }
            return cross / energy.squareRoot()
        }
        let isWide = reach > 2_000
        let coarse = stride(from: around - reach, through: around + reach, by: isWide ? 6 : 2)
            .map { ($0, likeness($0, every: isWide ? 11 : 3)) }.max { $0.1 < $1.1 }
        guard let coarse, coarse.1 > 0 else { return nil }
        return stride(from: coarse.0 - 6, through: coarse.0 + 6, by: 1).map { ($0, likeness($0, every: 1)) }
            .max { $0.1 < $1.1 }?.0
    }

    /// dB, over the blocks in which something is said, each with the gain that fits it best.
    static func signalToNoise(_ said: [Int16], _ heard: [Int16]) -> Double {
        var sum = 0.0
        var count = 0.0
        for start in stride(from: 0, to: min(said.count, heard.count) - block + 1, by: block) {
            let part = said[start..<(start + block)]
            guard AudioLevel.decibels(part) > -45 else { continue }
            var cross = 0.0
            var own = 1.0
            var other = 1.0
            for index in start..<(start + block) {
                let a = Double(said[index])
                let b = Double(heard[index])
                cross += a * b
                own += a * a
                other += b * b
            }
            let explained = cross * cross / (own * other)
            sum += 10 * log10(max(1e-3, explained) / max(1e-6, 1 - explained))
            count += 1
        }
        return sum / max(1, count)
    }

    /// Root mean square difference of the logarithmic spectra, dB, over 20 ms frames in which something is said: 32 bands
    /// from 100 Hz to 7 kHz.
    static func logSpectralDistance(_ said: [Int16], _ heard: [Int16]) -> Double {
        let bands = (0..<32).map { 100 * pow(70, Double($0) / 31) }
        let length = AudioFormat.framesPer20ms
        var sum = 0.0
        var count = 0.0
        for start in stride(from: 0, to: min(said.count, heard.count) - length + 1, by: length) {
            guard AudioLevel.decibels(said[start..<(start + length)]) > -40 else { continue }
            var square = 0.0
            for band in bands {
                let a = power(said, start, length, band)
                let b = power(heard, start, length, band)
                let difference = 10 * log10((a + 100) / (b + 100))
                square += difference * difference
            }
            sum += (square / Double(bands.count)).squareRoot()
            count += 1
        }
        return sum / max(1, count)
    }

    /// The power at one frequency (Goertzel), Hann-windowed.
    private static func power(_ samples: [Int16], _ start: Int, _ length: Int, _ frequency: Double) -> Double {
        let coefficient = 2 * cos(2 * .pi * frequency / 48_000)
        var first = 0.0
        var second = 0.0
        for index in 0..<length {
            let window = 0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(length))
            let next = Double(samples[start + index]) * window + coefficient * first - second
            second = first
            first = next
        }
        return (first * first + second * second - coefficient * first * second) / Double(length)
    }
}
