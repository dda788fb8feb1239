import AudioPipeline
import Foundation
import LoopCore

/// Puts the sound of a session together as its configuration says. Confined to the loop.
final class Studio {
    let audio: SessionAudio
    /// What gives the user's frames where there is no device.
    let source: ClockedSource?
    /// The recording to say, where there is one.
    let recording: AudioFileSource?

    init(
        configuration: SessionConfiguration, loop: EventLoop, recorder: SessionRecorder?
    ) throws(AudioFileError) {
        recording = try Self.recording(configuration)
        source = Self.clockedSource(configuration.input, loop: loop)
        let flow: any FrameSource
        if let source {
            flow = source
        } else if case .microphone(let device) = configuration.input {
            flow = DeviceSource(loop: loop, device: device)
        } else {
            flow = ClockedSource(loop: loop)
        }
        var parts = SessionAudio.Parts(source: flow)
        if let options = configuration.processing, options.isAnythingOn { parts.processor = VoiceProcessor(options) }
        if let mix = configuration.mix { parts.mix = try LoopedFile(path: mix.path, gain: mix.gain) }
        parts.recorder = recorder
        parts.playback = configuration.speaker.flatMap { PlaybackFeed(device: $0) }
        parts.output = try Self.output(configuration)
        parts.isMuted = configuration.isMuted
        parts.detectsSpeech = !configuration.input.isRecording
        if configuration.keepsPreConnectAudio {
            parts.preConnectLimit = configuration.preConnectBuffer.map { AudioFormat.frames(in: $0) }
        }
        audio = SessionAudio(parts, loop: loop)
    }

    private static func recording(_ configuration: SessionConfiguration) throws(AudioFileError) -> AudioFileSource? {
        let reader: any SampleReader
        switch configuration.input {
        case .file(let path): reader = try AudioFileReader(path: path)
        case .stream(let descriptor, let name, let format):
            reader = StreamReader(descriptor: descriptor, name: name, format: format)
        case .microphone, .tone, .silence, .manual: return nil
        }
        var options = AudioFileSource.Options()
        options.leadIn = configuration.leadIn
        options.trailing = configuration.trailingSilence
        return AudioFileSource(reader: reader, options: options)
    }

    private static func clockedSource(_ input: SessionConfiguration.Input, loop: EventLoop) -> ClockedSource? {
        let length = AudioFormat.framesPer20ms
        switch input {
        case .microphone: return nil
        case .file, .stream, .silence: return ClockedSource(loop: loop)
        case .tone(let frequency, let level):
            var phase = 0.0
            let step = 2 * Double.pi * frequency / Double(AudioFormat.sampleRate)
            let amplitude = 32_767 * Double(GainRamp.factor(decibels: -abs(level)))
            return ClockedSource(loop: loop) {
                (0..<length).map { _ in
                    defer { phase = (phase + step).truncatingRemainder(dividingBy: 2 * .pi) }
                    return Int16((amplitude * sin(phase)).rounded())
                }
            }
        case .manual(let audio):
            return ClockedSource(loop: loop) {
                let samples = audio.pull(length)
                return samples + [Int16](repeating: 0, count: length - samples.count)
            }
        }
    }

    private static func output(_ configuration: SessionConfiguration) throws(AudioFileError) -> SessionAudio.Output? {
        switch configuration.output {
        case nil: return nil
        case .file(let path)?:
            var input: String?
            if case .file(let path) = configuration.input { input = path }
            return .file(
                try WAVWriter(path: path, sampleRate: AudioFormat.sampleRate, channels: 1, protecting: input))
        case .stream(let descriptor, let name, let isWAV)?:
            return .stream(StreamWriter(descriptor: descriptor, name: name, isWAV: isWAV))
        case .manual(let audio)?: return .manual(audio)
        }
    }
}
