import LoopCore
import Testing

@testable import AudioPipeline

@Suite struct FramePacerTests {
    private func time(_ milliseconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 5_000_000_000 + Int64(milliseconds * 1e6))
    }

    @Test func framesAreDueEveryTwentyMilliseconds() {
        var pacer = FramePacer(start: time(0))
        #expect(pacer.takeDue(at: time(-1)) == nil)
        #expect(pacer.takeDue(at: time(0)) == 0)
        #expect(pacer.takeDue(at: time(0)) == nil)
        #expect(pacer.takeDue(at: time(19.9)) == nil)
        #expect(pacer.takeDue(at: time(20)) == 1)
        #expect(pacer.nextDeadline == time(40))
    }

    @Test func latenessDoesNotAddUp() {
        var pacer = FramePacer(start: time(0))
        var generator = SeededGenerator(seed: 1)
        var now = 0.0
        var count = 0
        while now < 60_000 {
            while pacer.takeDue(at: time(now)) != nil { count += 1 }
            now = (pacer.nextDeadline - time(0)).milliseconds + Double.random(in: 0...15, using: &generator)
        }
        #expect(count == 3_000)
        #expect(pacer.nextDeadline == time(60_000))
        #expect(pacer.slipped == .zero)
    }

    @Test func aShortStallIsMadeUpForAndALongOneIsNot() {
        var pacer = FramePacer(start: time(0))
        _ = pacer.takeDue(at: time(0))
        var burst = 0
        while pacer.takeDue(at: time(500)) != nil { burst += 1 }
        #expect(burst == 25)
        burst = 0
        while pacer.takeDue(at: time(10_000)) != nil { burst += 1 }
        #expect(burst == 1)
        #expect(pacer.slipped == .milliseconds(9_480))
        #expect(pacer.nextDeadline == time(10_020))
    }

    /// 100 years of frames at odd durations: no rounding error.
    @Test func noDrift() {
        let pacer = FramePacer(start: time(0), frameDuration: .microseconds(2_500))
        #expect(pacer.deadline(of: 1_000_000_000) == time(2_500_000_000))
    }
}

@Suite struct AudioLevelTests {
    @Test func knownLevels() {
        #expect(AudioLevel.dBov([]) == 127)
        #expect(AudioLevel.dBov([0, 0, 0]) == 127)
        #expect(AudioLevel.dBov([Int16](repeating: .min, count: 480)) == 0)
        #expect(AudioLevel.dBov([Int16](repeating: 1, count: 480)) == 90)
        // A full-scale sine is 3 dB below a full-scale square wave.
        #expect(AudioLevel.dBov(Signals.tone(1_000, frames: 4_800, level: 0)) == 3)
        #expect(AudioLevel.dBov(Signals.tone(1_000, frames: 4_800, level: -40)) == 43)
    }
}

@Suite struct EnergyVADTests {
    private func run(_ vad: inout EnergyVAD, _ samples: [Int16]) -> [EnergyVAD.Event] {
        var events: [EnergyVAD.Event] = []
        for start in stride(from: 0, to: samples.count, by: 960) {
            events += vad.process(Array(samples[start..<min(samples.count, start + 960)]))
        }
        return events
    }

    private func noise(_ frames: Int, level: Double, seed: UInt64 = 3) -> [Int16] {
        var generator = SeededGenerator(seed: seed)
        return (0..<frames).map { _ in Int16(Double.random(in: -level...level, using: &generator)) }
    }

    private func mix(_ a: [Int16], _ b: [Int16]) -> [Int16] { zip(a, b).map { $0 &+ $1 } }

    @Test func findsSpeechInSilence() {
        var vad = EnergyVAD()
        let speech = Signals.tone(300, frames: 48_000, level: -20)
        let silence = [Int16](repeating: 0, count: 48_000)
        let events = run(&vad, silence + speech + silence)
        #expect(events == [.speechStarted(at: 48_000), .speechEnded(at: 96_000)])
    }

    @Test func findsSpeechInNoise() {
        var vad = EnergyVAD()
        let frames = 48_000
        let quiet = [Int16](repeating: 0, count: 2 * frames)
        let clean = quiet + Signals.tone(300, frames: frames, level: -20) + quiet
        let events = run(&vad, mix(clean, noise(clean.count, level: 100)))
        #expect(events.count == 2)
        guard case .speechStarted(let start)? = events.first, case .speechEnded(let end)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(abs(start - 2 * frames) <= 960)
        #expect(abs(end - 3 * frames) <= 960)
    }

    @Test func clicksAreNotSpeech() {
        var vad = EnergyVAD()
        var samples = [Int16](repeating: 0, count: 96_000)
        for index in 20_000..<20_600 { samples[index] = 20_000 }
        #expect(run(&vad, samples) == [])
    }

    @Test func shortPausesAreBridged() {
        var vad = EnergyVAD()
        let word = Signals.tone(300, frames: 14_400, level: -20)
        let pause = [Int16](repeating: 0, count: 9_600)
        let events = run(&vad, pause + word + pause + word + pause + word + [Int16](repeating: 0, count: 48_000))
        #expect(events.count == 2)
        #expect(events.last == .speechEnded(at: 9_600 * 3 + 14_400 * 3))
    }

    @Test func aLongTalkDoesNotBecomeItsOwnNoise() {
        var vad = EnergyVAD()
        let talk = Signals.speechLike(frames: 48_000 * 30)
        let events = run(&vad, [Int16](repeating: 0, count: 24_000) + talk + [Int16](repeating: 0, count: 48_000))
        #expect(events.count == 2, "\(events)")
    }

    @Test func steadyNoiseIsNotSpeechForEver() {
        var vad = EnergyVAD()
        let events = run(&vad, noise(48_000 * 20, level: 300))
        #expect(!vad.isSpeech)
        #expect(events.count <= 2)
    }
}

@Suite struct AudioFileSourceTests {
    @Test func silenceSpeechSilence() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("speech.wav")
        let writer = try WAVWriter(path: path)
        // 0.3 s of silence, 1 s of tone, 0.3 s of silence and a bit.
        let quiet = [Int16](repeating: 0, count: 14_400)
        let tone = Signals.tone(300, frames: 48_000, level: -20)
        try writer.write(quiet + tone + quiet + [1, 2, 3])
        try writer.close()
        let source = AudioFileSource(reader: try AudioFileReader(path: path))
        var samples: [Int16] = []
        while let frame = try source.next() {
            #expect(frame.count == 960)
            samples += frame
        }
        #expect(try source.next() == nil)
        let lead = 9_600
        let file = 14_400 * 2 + 48_000 + 3
        #expect(source.fileStart == lead)
        #expect(source.fileEnd == lead + file)
        #expect(samples.count == (lead + file + 48_000 + 959) / 960 * 960)
        #expect(samples.count == source.position)
        #expect(Array(samples[(lead + 14_400)..<(lead + 62_400)]) == tone)
        #expect(samples[lead + file - 1] == 3)
        #expect(samples[(lead + file)...].allSatisfy { $0 == 0 })
        #expect(source.speechStart == lead + 14_400)
        #expect(source.speechEnd == lead + 62_400)
    }

    @Test func speechUpToTheVeryEnd() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("speech.wav")
        let writer = try WAVWriter(path: path)
        try writer.write(Signals.tone(300, frames: 24_000, level: -20))
        try writer.close()
        var options = AudioFileSource.Options()
        options.leadIn = .zero
        options.trailing = .milliseconds(100)
        let source = AudioFileSource(reader: try AudioFileReader(path: path), options: options)
        while try source.next() != nil {}
        #expect(source.speechStart == 0)
        #expect(source.speechEnd == 24_000)
    }

    /// The bundled sentence is found as one turn.
    @Test func theBundledSentence() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let reader = try AudioFileReader(path: "/\(root)/config/demo/hello.wav")
        let source = AudioFileSource(reader: reader)
        #expect(reader.format.duration.map { $0 > .seconds(3) && $0 < .seconds(4) } == true)
        while try source.next() != nil {}
        #expect(source.reader.warnings == [])
        let start = try #require(source.speechStart)
        let end = try #require(source.speechEnd)
        #expect(abs(start - (source.fileStart + 12_000)) < 2_400)
        #expect(end > start + 48_000 * 2 && end < source.fileEnd ?? 0)
    }
}

@Suite struct SequenceWindowTests {
    @Test func extendsAndTellsDuplicates() {
        var window = SequenceWindow()
        let first = window.insert(65_534)
        #expect(window.insert(65_534) == nil)
        #expect(window.insert(65_535) == first.map { $0 + 1 })
        #expect(window.insert(2) == first.map { $0 + 4 })
        #expect(window.insert(0) == first.map { $0 + 2 })
        #expect(window.insert(0) == nil)
        #expect(window.insert(2) == nil)
        #expect(window.insert(102) == first.map { $0 + 104 })
        #expect(window.insert(2) == nil)
        #expect(window.insert(1) == first.map { $0 + 3 })
        #expect(window.insert(1) == nil)
        #expect(window.insert(400) == first.map { $0 + 402 })
        #expect(window.insert(399) == first.map { $0 + 401 })
    }
}

@Suite struct TimeScalerTests {
    @Test func periodsAreTakenOutAndPutIn() throws {
        for frequency in [100.0, 220, 440, 1_000] {
            let tone = Signals.tone(frequency, frames: 9_600)
            for start in stride(from: 0, to: 8_640, by: 960) {
                let frame = Array(tone[start..<(start + 960)])
                let shorter = try #require(TimeScaler.shorten(frame))
                let longer = try #require(TimeScaler.lengthen(frame))
                #expect(frame.count - shorter.count == longer.count - frame.count)
                #expect((120...720).contains(frame.count - shorter.count))
                let limit = Signals.largestStep(in: frame) * 5 / 4
                #expect(Signals.largestStep(in: shorter) <= limit)
                #expect(Signals.largestStep(in: longer) <= limit)
                // The ends are as they were (but for rounding), so the neighbours still fit.
                #expect(abs(Int(shorter[0]) - Int(frame[0])) <= 1)
                #expect(longer[0] == frame[0])
                #expect(shorter.last == frame.last)
                #expect(longer.last == frame.last)
            }
        }
    }

    @Test func tooLittleSoundOrNoLikenessIsLeftAlone() {
        #expect(TimeScaler.shorten([]) == nil)
        #expect(TimeScaler.shorten([Int16](repeating: 0, count: 120)) == nil)
        var generator = SeededGenerator(seed: 2)
        let noise = (0..<960).map { _ in Int16.random(in: -9_000...9_000, using: &generator) }
        #expect(TimeScaler.shorten(noise) == nil)
        #expect(TimeScaler.shorten([Int16](repeating: 0, count: 960))?.count == 480)
    }
}
