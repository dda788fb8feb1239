import AgentSandbox
import AudioPipeline
import Dispatch
import Foundation
import LoopCore

/// What the processing of the microphone does to generated scenes: two synthesised voices, and rooms of which one of
/// them comes back.
enum EchoBenchmark {
    private struct Scene {
        /// From the loudspeaker to the microphone, the devices' own delays included, ms.
        var delay: Int
        /// The time in which the room's echo dies away by 60 dB (RT60), ms.
        var reverberation: Int
        /// The echo at the microphone against what is played, dB.
        var level: Double
    }

    private static let delays = [20, 60, 120, 200]
    private static let reverberations = [100, 300, 500]
    /// Both voices are as loud where they are made, so that the near one is so much louder than the other's echo.
    private static let levels = [-6.0, -12, -20]
    private static let rate = AudioFormat.sampleRate
    private static let seconds = 14
    private static let count = seconds * rate
    /// From when on the echo has to be gone.
    private static let settled = 2 * rate
    /// From when on the near end speaks, and from when on it is looked at.
    private static let talkStart = 6 * rate
    private static let measured = (7 * rate)..<((seconds - 1) * rate)
    private static let voiceLevel = -23.0
    /// A quiet room, dBov: a canceller that only closes the microphone would be heard doing it.
    private static let noiseLevel = -70.0

    static func figures() throws -> [Figure] {
        let far = try voice(
            "We are open from nine in the morning until six in the evening. On Saturdays we close at two. The "
                + "nearest car park is behind the building, and the first hour is free.", pitch: 45, wordsPerMinute: 165
        )
        var near = try voice(
            "Could you tell me whether there is a table near the window? I would come by with three friends in the "
                + "afternoon, and we would like something without meat.", pitch: 75, wordsPerMinute: 150)
        for index in 0..<talkStart { near[index] = 0 }
        let silence = [Float](repeating: 0, count: count)
        // What the processing makes of the near end when nothing is played is what double talk is held against.
        let alone = try run(played: integers(silence), captured: integers(near), delay: .zero).samples

        var reductions: [Double] = []
        var misled = Double.infinity
        var changes: [Double: [Double]] = [:]
        var cpu = 0.0
        for (index, scene) in scenes.enumerated() {
            let echo = microphone(hearing: far, scene, seed: UInt64(index + 1))
            let single = try run(played: integers(far), captured: integers(echo), delay: .milliseconds(scene.delay))
            cpu += single.cpu
            reductions.append(reduction(from: integers(echo), to: single.samples))
            if scene.reverberation == 300, scene.delay >= 60 {
                for error in [-50, 50] {
                    let other = try run(
                        played: integers(far), captured: integers(echo), delay: .milliseconds(scene.delay + error))
                    misled = min(misled, reduction(from: integers(echo), to: other.samples))
                }
            }
            let both = try run(
                played: integers(far), captured: integers(zip(echo, near).map { $0 + $1 }),
                delay: .milliseconds(scene.delay))
            changes[scene.level, default: []].append(gain(of: alone, in: both.samples))
        }
        reductions.sort()
        let share = cpu / Double(scenes.count * seconds) * 100
        let rooms = "\(scenes.count) scenes: 20 to 200 ms, RT60 100 to 500 ms, echo of -6 to -20 dB"
        return [
            Figure(
                name: "echo taken out after 2 s of the far end alone, worst scene", value: reductions[0], unit: "dB",
                target: .atLeast(25), note: rooms),
            Figure(
                name: "echo taken out, median scene", value: reductions[reductions.count / 2], unit: "dB", target: .none
            ),
            Figure(
                name: "echo taken out, devices' delay wrong by 50 ms, worst scene", value: misled, unit: "dB",
                target: .atLeast(25), note: "either way"),
        ]
            + levels.map { level in
                let values = changes[level] ?? []
                return Figure(
                    name: "near end in double talk, \(Int(-level)) dB above the echo, greatest change",
                    value: values.map(abs).max() ?? .infinity, unit: "dB", target: .atMost(3),
                    note: "mean \(Report.number(values.reduce(0, +) / Double(max(1, values.count)))) dB")
            } + [
                Figure(
                    name: "processing of the microphone, all of it, of a core", value: share, unit: "%",
                    target: .atMost(2))
            ]
    }

    private static var scenes: [Scene] {
        delays.flatMap { delay in
            reverberations.flatMap { reverberation in
                levels.map { Scene(delay: delay, reverberation: reverberation, level: $0) }
            }
        }
    }

    // MARK: Processing

    /// Everything on but the gain control, which would be taken for what the canceller does to the near end; its CPU is
    /// measured on the same sound by itself.
    private static func run(
        played: [Int16], captured: [Int16], delay: Duration
    ) throws -> (samples: [Int16], cpu: Double) {
        var options = VoiceProcessor.Options()
        options.gainControl = false
        guard let processor = VoiceProcessor(options), let complete = VoiceProcessor() else {
            throw CodecBenchmark.Failure(message: "the audio processing cannot be made")
        }
        var output = captured
        process(processor, played: played, captured: &output, delay: delay)
        var again = captured
        let cpu = leastCPUSeconds(rounds: 1) {
            process(complete, played: played, captured: &again, delay: delay)
        }
        return (output, cpu)
    }

    private static func process(
        _ processor: VoiceProcessor, played: [Int16], captured: inout [Int16], delay: Duration
    ) {
        let unit = VoiceProcessor.frameLength
        played.withUnsafeBufferPointer { played in
            captured.withUnsafeMutableBufferPointer { captured in
                for start in stride(from: 0, to: count - unit + 1, by: unit) {
                    processor.playback(UnsafeBufferPointer(rebasing: played[start..<(start + unit)]))
                    processor.capture(
                        UnsafeMutableBufferPointer(rebasing: captured[start..<(start + unit)]), delay: delay)
                }
            }
        }
    }

    // MARK: Scenes

    /// A text over and over, at `voiceLevel`.
    private static func voice(_ text: String, pitch: Int, wordsPerMinute: Int) throws -> [Float] {
        var voice = AgentVoice()
        voice.pitch = pitch
        voice.wordsPerMinute = wordsPerMinute
        let spoken = try Waiting.wait { [voice] in
            try await SpeechSynthesizer.shared.speak(text, voice: voice).samples
        }
        guard !spoken.isEmpty else { throw CodecBenchmark.Failure(message: "espeak-ng says nothing") }
        let factor = amplitude(voiceLevel - AudioLevel.decibels(spoken))
        return (0..<count).map { Float(spoken[$0 % spoken.count]) * factor }
    }

    /// The far end as the microphone hears it in a room: the direct sound, and 3 dB below it noise that dies away.
    private static func microphone(hearing far: [Float], _ scene: Scene, seed: UInt64) -> [Float] {
        var random = Noise(seed: seed)
        let length = scene.reverberation * rate / 1_000
        // Reflections at some 2,000 places, 3 ms and more after the direct sound.
        var taps: [(offset: Int, gain: Float)] = []
        var energy: Float = 0
        for _ in 0..<2_000 {
            let offset = 144 + Int(random.next() * Double(max(1, length - 144)))
            let gain = Float((random.next() * 2 - 1) * pow(10, -3 * Double(offset) / Double(length)))
            taps.append((offset, gain))
            energy += gain * gain
        }
        let tail = (0.5 / energy).squareRoot()
        let scale = amplitude(scene.level) / Float(1.5).squareRoot()
        let start = scene.delay * rate / 1_000
        var sum = [Float](repeating: 0, count: count)
        sum.withUnsafeMutableBufferPointer { sum in
            far.withUnsafeBufferPointer { far in
                for (offset, gain) in [(0, 1)] + taps.map({ ($0.offset, $0.gain * tail) }) {
                    let first = start + offset
                    let factor = gain * scale
                    for index in first..<count { sum[index] += far[index - first] * factor }
                }
            }
        }
        // Uniform noise has a third of the energy of its bounds.
        let bound = amplitude(noiseLevel) * 32_768 * Float(3).squareRoot()
        for index in 0..<count { sum[index] += Float(random.next() * 2 - 1) * bound }
        return sum
    }

    private struct Noise {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

        /// 0 to 1.
        mutating func next() -> Double {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Double(state >> 11) / Double(1 << 53)
        }
    }

    private static func amplitude(_ decibels: Double) -> Float { Float(pow(10, decibels / 20)) }

    private static func integers(_ samples: [Float]) -> [Int16] {
        samples.map(AudioFormat.sample)
    }

    // MARK: Measures

    private static func reduction(from before: [Int16], to after: [Int16]) -> Double {
        AudioLevel.decibels(before[settled...]) - AudioLevel.decibels(after[settled...])
    }

    /// How much louder `part` is in `whole` than by itself, dB: its projection, which the rest of the echo is not in.
    /// Both came through the same filters, so that they are aligned.
    private static func gain(of part: [Int16], in whole: [Int16]) -> Double {
        var cross = 0.0
        var energy = 0.0
        for index in measured {
            cross += Double(part[index]) * Double(whole[index])
            energy += Double(part[index]) * Double(part[index])
        }
        return 20 * log10(max(1e-6, cross / energy))
    }
}
