import Foundation
import Testing

@testable import AudioPipeline

@Suite struct VoiceProcessorTests {
    /// Runs a scene of equal lengths through the processor; returns what comes out of the microphone's side.
    private func run(
        _ options: VoiceProcessor.Options, played: [Int16], captured: [Int16], delay: Duration
    ) throws -> (samples: [Int16], processor: VoiceProcessor) {
        let processor = try #require(VoiceProcessor(options))
        var output: [Int16] = []
        for start in stride(from: 0, to: captured.count - 479, by: 480) {
            var frame = Array(captured[start..<(start + 480)])
            played[start..<(start + 480)].withContiguousStorageIfAvailable { _ = processor.playback($0) }
            frame.withUnsafeMutableBufferPointer { _ = processor.capture($0, delay: delay) }
            output += frame
        }
        return (output, processor)
    }

    private func only(_ path: WritableKeyPath<VoiceProcessor.Options, Bool>) -> VoiceProcessor.Options {
        var options = VoiceProcessor.Options()
        options.echoCancellation = false
        options.noiseSuppression = false
        options.gainControl = false
        options.highPass = false
        options.voiceDetection = false
        options[keyPath: path] = true
        return options
    }

    /// `played`, so many milliseconds late and 10 dB quieter.
    private func echo(of played: [Int16], after milliseconds: Int) -> [Int16] {
        let late = milliseconds * 48
        return [Int16](repeating: 0, count: late) + played.dropLast(late).map { Int16(Double($0) * 0.316) }
    }

    private func reduction(from before: [Int16], to after: [Int16]) -> Double {
        Signals.level(of: Array(before[144_000...])) - Signals.level(of: Array(after[144_000...]))
    }

    @Test(arguments: [20, 60, 120, 200]) func takesTheEchoOut(after milliseconds: Int) throws {
        let played = Signals.speechLike(frames: 48_000 * 6)
        let echo = echo(of: played, after: milliseconds)
        let (output, _) = try run(
            only(\.echoCancellation), played: played, captured: echo, delay: .milliseconds(milliseconds))
        let found = reduction(from: echo, to: output)
        #expect(found >= 25, "\(found) dB")
    }

    @Test(arguments: [-50, 50]) func bearsAWrongDelay(by error: Int) throws {
        let played = Signals.speechLike(frames: 48_000 * 6)
        let echo = echo(of: played, after: 120)
        let (output, _) = try run(
            only(\.echoCancellation), played: played, captured: echo, delay: .milliseconds(120 + error))
        let found = reduction(from: echo, to: output)
        #expect(found >= 25, "\(found) dB")
    }

    @Test func leavesTheEchoWhereCancellationIsOff() throws {
        let played = Signals.speechLike(frames: 48_000 * 6)
        let echo = echo(of: played, after: 60)
        let (output, processor) = try run(
            only(\.highPass), played: played, captured: echo, delay: .milliseconds(60))
        #expect(abs(reduction(from: echo, to: output)) < 1)
        #expect(processor.statistics == VoiceProcessor.Statistics())
    }

    @Test func tellsWhatItFound() throws {
        let played = Signals.speechLike(frames: 48_000 * 12)
        let (_, processor) = try run(
            only(\.echoCancellation), played: played, captured: echo(of: played, after: 120),
            delay: .milliseconds(100))
        let found = processor.statistics
        #expect(abs(try #require(found.echoReturnLoss) - 10) <= 3, "\(found)")
        #expect(try #require(found.echoReturnLossEnhancement) > 10, "\(found)")
        #expect(abs(try #require(found.delayMilliseconds) - 120) <= 20, "\(found)")
    }

    @Test func leavesEverythingWithAllOff() throws {
        var options = only(\.highPass)
        options.highPass = false
        #expect(!options.isAnythingOn)
        let speech = Signals.speechLike(frames: 48_000)
        let (output, processor) = try run(options, played: speech, captured: speech, delay: .zero)
        #expect(output == speech)
        #expect(!processor.hasVoice)
    }

    @Test func keepsTheSpeakerWithoutEcho() throws {
        let speech = Signals.speechLike(frames: 48_000 * 4)
        let silence = [Int16](repeating: 0, count: speech.count)
        let (output, _) = try run(
            only(\.echoCancellation), played: silence, captured: speech, delay: .milliseconds(60))
        #expect(abs(Signals.level(of: output) - Signals.level(of: speech)) < 1)
    }

    @Test func takesNoiseOut() throws {
        var random = SystemRandomNumberGenerator()
        let noise = (0..<(48_000 * 4)).map { _ in Int16.random(in: -600...600, using: &random) }
        let silence = [Int16](repeating: 0, count: noise.count)
        let (output, _) = try run(only(\.noiseSuppression), played: silence, captured: noise, delay: .zero)
        let gain = Signals.level(of: Array(output[96_000...])) - Signals.level(of: Array(noise[96_000...]))
        #expect(gain < -6, "\(gain) dB")
    }

    @Test func bringsUpAQuietVoice() throws {
        let quiet = Signals.speechLike(frames: 48_000 * 6).map { $0 / 16 }
        let silence = [Int16](repeating: 0, count: quiet.count)
        let (output, _) = try run(only(\.gainControl), played: silence, captured: quiet, delay: .zero)
        let gain = Signals.level(of: Array(output[192_000...])) - Signals.level(of: Array(quiet[192_000...]))
        #expect(gain > 4, "\(gain) dB")
    }

    /// The bundled sentence, over and over; the gain control does not take anything simpler for a voice.
    private func recordedVoice(seconds: Int) throws -> [Int16] {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        var sentence: [Int16] = []
        var options = AudioFileSource.Options()
        options.leadIn = .zero
        options.trailing = .zero
        let source = AudioFileSource(
            reader: try AudioFileReader(path: root + "/config/demo/hello.wav"), options: options)
        while let frame = try source.next() { sentence += frame }
        try #require(!sentence.isEmpty)
        return (0..<(seconds * 48_000)).map { sentence[$0 % sentence.count] }
    }

    /// The library also has a gain control that takes no settings and adds a fixed gain; this one adapts.
    @Test func bringsLoudAndQuietVoicesTogether() throws {
        let voice = try recordedVoice(seconds: 20)
        let silence = [Int16](repeating: 0, count: voice.count)
        let levels = try [Int16(1), 8].map { divisor in
            let (output, _) = try run(
                only(\.gainControl), played: silence, captured: voice.map { $0 / divisor }, delay: .zero)
            return Signals.level(of: Array(output[768_000...]))
        }
        // 18 dB apart before.
        #expect(abs(levels[0] - levels[1]) < 6, "\(levels) dB")
    }

    @Test func takesOffsetsAndHumOut() throws {
        let silence = [Int16](repeating: 0, count: 96_000)
        let offset = [Int16](repeating: 8_000, count: 96_000)
        let hum = Signals.tone(50, frames: 96_000, level: -12)
        for (sound, least) in [(offset, 60.0), (hum, 10)] {
            let (output, _) = try run(only(\.highPass), played: silence, captured: sound, delay: .zero)
            let taken = Signals.level(of: Array(sound[48_000...])) - Signals.level(of: Array(output[48_000...]))
            #expect(taken > least, "\(taken) dB")
        }
    }

    @Test func leavesTheVoiceAboveTheHighPass() throws {
        let tone = Signals.tone(500, frames: 96_000, level: -12)
        let silence = [Int16](repeating: 0, count: tone.count)
        let (output, _) = try run(only(\.highPass), played: silence, captured: tone, delay: .zero)
        #expect(abs(Signals.level(of: Array(output[48_000...])) - Signals.level(of: tone)) < 0.5)
    }

    @Test func tellsVoiceFromSilence() throws {
        let speech = Signals.speechLike(frames: 48_000)
        let silence = [Int16](repeating: 0, count: 96_000)
        let (_, quiet) = try run(only(\.voiceDetection), played: silence, captured: silence, delay: .zero)
        #expect(!quiet.hasVoice)
        let processor = try #require(VoiceProcessor(only(\.voiceDetection)))
        var voiced = 0
        for start in stride(from: 0, to: speech.count, by: 480) {
            var frame = Array(speech[start..<(start + 480)])
            frame.withUnsafeMutableBufferPointer { _ = processor.capture($0, delay: .zero) }
            if processor.hasVoice { voiced += 1 }
        }
        #expect(voiced > 50, "\(voiced) of 100 frames")
    }

    @Test func refusesOtherLengths() throws {
        let processor = try #require(VoiceProcessor())
        for count in [0, 1, 479, 481, 960] {
            var frame = [Int16](repeating: 1, count: count)
            let copy = frame
            #expect(!copy.withUnsafeBufferPointer { processor.playback($0) })
            #expect(!frame.withUnsafeMutableBufferPointer { processor.capture($0, delay: .zero) })
            #expect(frame == copy)
            #expect(!processor.playback(frame))
            #expect(!processor.capture(&frame, delay: .zero))
            #expect(frame == copy)
        }
    }
}
