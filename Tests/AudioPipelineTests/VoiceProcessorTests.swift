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

    @Test func takesTheEchoOut() throws {
        let played = Signals.speechLike(frames: 48_000 * 6)
        // 60 ms late and 10 dB quieter.
        let echo = [Int16](repeating: 0, count: 2_880) + played.dropLast(2_880).map { Int16(Double($0) * 0.316) }
        let (output, _) = try run(only(\.echoCancellation), played: played, captured: echo, delay: .milliseconds(60))
        let before = Signals.level(of: Array(echo[144_000...]))
        let after = Signals.level(of: Array(output[144_000...]))
        #expect(before - after > 25, "\(before) to \(after) dB")
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

    @Test func takesOutWhatIsBelowTheVoice() throws {
        let hum = Signals.tone(20, frames: 96_000, level: -6).map { Int16(clamping: Int($0) / 2 + 8_000) }
        let silence = [Int16](repeating: 0, count: hum.count)
        let (output, _) = try run(only(\.highPass), played: silence, captured: hum, delay: .zero)
        #expect(Signals.level(of: Array(output[48_000...])) < Signals.level(of: hum) - 10)
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
        }
    }
}
