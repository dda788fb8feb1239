import AudioPipeline
import Foundation
import LoopCore

/// What the processing of the microphone does, on scenes that are generated: speech through synthetic rooms.
enum EchoBenchmark {
    private struct Scene {
        /// From the loudspeaker to the microphone, the devices' own delays included, ms.
        var delay: Int
        /// The time in which the room's echo dies away by 60 dB, ms.
        var reverberation: Int
        /// The echo at the microphone against what is played, dB.
        var level: Double
    }

    private static let scenes = [20, 80, 200].flatMap { delay in
        [100, 300].flatMap { reverberation in
            [-6.0, -20.0].map { Scene(delay: delay, reverberation: reverberation, level: $0) }
        }
    }
    private static let seconds = 12
    private static let count = seconds * 48_000

    static func figures() throws -> [Figure] {
        let near = try speech(seed: 0)
        // Another voice, saying it at another time: higher, and faster.
        let far = try speech(seed: 1)
        var worstERLE = Double.infinity
        var greatestChange = 0.0
        var cpu = 0.0
        for (index, scene) in scenes.enumerated() {
            let echo = render(far, scene, seed: UInt64(index))
            let single = try run(played: far, captured: echo, delay: scene.delay)
            cpu += single.cpu
            worstERLE = min(worstERLE, level(echo[(2 * 48_000)...]) - level(single.samples[(2 * 48_000)...]))
            // Both talk, after the canceller had its 4 s of the far end alone.
            let talk = near.enumerated().map { $0 < 4 * 48_000 ? 0 : $1 }
            let both = zip(echo, talk).map { Int16(clamping: Int($0) + Int($1)) }
            let double = try run(played: far, captured: both, delay: scene.delay)
            greatestChange = max(greatestChange, abs(gain(of: talk, in: double.samples)))
        }
        let share = cpu / Double(scenes.count * seconds) * 100
        return [
            Figure(
                name: "echo taken out after 2 s of the far end alone, worst scene", value: worstERLE, unit: "dB",
                target: .atLeast(25), note: "\(scenes.count) rooms: 20-200 ms, RT60 100-300 ms, -6 and -20 dB"),
            Figure(
                name: "near end in double talk, greatest change", value: greatestChange, unit: "dB", target: .atMost(3)),
            Figure(
                name: "processing of the microphone, all of it, of a core", value: share, unit: "%", target: .atMost(2)),
        ]
    }

    private static func run(
        played: [Int16], captured: [Int16], delay: Int
    ) throws -> (samples: [Int16], cpu: Double) {
        var options = VoiceProcessor.Options()
        options.gainControl = false
        guard let processor = VoiceProcessor(options) else {
            throw CodecBenchmark.Failure(message: "the audio processing cannot be made")
        }
        var output = captured
        let cpu = leastCPUSeconds(rounds: 1) {
            played.withUnsafeBufferPointer { played in
                output.withUnsafeMutableBufferPointer { output in
                    for start in stride(from: 0, to: count - 479, by: 480) {
                        processor.playback(UnsafeBufferPointer(rebasing: played[start..<(start + 480)]))
                        processor.capture(
                            UnsafeMutableBufferPointer(rebasing: output[start..<(start + 480)]),
                            delay: .milliseconds(delay))
                    }
                }
            }
        }
        return (output, cpu)
    }

    private static func speech(seed: Int) throws -> [Int16] {
        var samples = try Speech.frames(seconds * 50 + 400).flatMap { $0 }
        if seed > 0 {
            samples = Resampler.convert(samples, from: 48_000, to: 42_000) ?? samples
            samples = Array(samples.dropFirst(70_000))
        }
        return Array(samples.prefix(count))
    }

    /// The far end as the microphone hears it: the direct sound, and reflections that come at random times and die away.
    private static func render(_ far: [Int16], _ scene: Scene, seed: UInt64) -> [Int16] {
        var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func next() -> Double {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return Double(random >> 11) / Double(1 << 53)
        }
        var taps = [(offset: scene.delay * 48, gain: 1.0)]
        let tail = scene.reverberation * 48
        for _ in 0..<200 {
            let offset = Int(next() * Double(tail))
            let decay = pow(10, -3 * Double(offset) / Double(tail))
            taps.append((scene.delay * 48 + offset, (next() - 0.5) * 0.4 * decay))
        }
        var sum = [Float](repeating: 0, count: count)
        for (offset, gain) in taps where offset < count {
            let factor = Float(gain)
            far.withUnsafeBufferPointer { far in
                sum.withUnsafeMutableBufferPointer { sum in
                    for index in offset..<count { sum[index] += Float(far[index - offset]) * factor }
                }
            }
        }
        let scale = Float(pow(10, scene.level / 20))
        // A quiet room's noise, -72 dBov: a canceller that only closes the microphone would be heard doing it.
        return sum.map { Int16(max(-32_768, min(32_767, ($0 * scale + Float(next() - 0.5) * 28).rounded()))) }
    }

    private static func level(_ samples: some Collection<Int16>) -> Double { AudioLevel.decibels(samples) }

    /// How much louder `part` is in `whole` than by itself, dB, at the lag where it fits best.
    private static func gain(of part: [Int16], in whole: [Int16]) -> Double {
        var best = 0.0
        var energy = 0.0
        let start = 5 * 48_000
        // Every eleventh sample says as much.
        let positions = stride(from: start, to: count - 960, by: 11)
        for index in positions { energy += Double(part[index]) * Double(part[index]) }
        for lag in 0..<960 {
            var cross = 0.0
            for index in positions { cross += Double(part[index]) * Double(whole[index + lag]) }
            best = max(best, cross)
        }
        return 20 * log10(max(1e-6, best / energy))
    }
}
