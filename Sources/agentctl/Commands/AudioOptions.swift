import AgentCore
import AudioPipeline
import Foundation

/// The options that say where sound comes from, where it goes and how it is treated.
enum AudioOptions {
    static let sound = CommandSpec.Group(
        title: "Sound",
        options: [
            .value(
                "input", short: "i", "FILE", completion: .file,
                "say a recording: WAV, FLAC, Ogg, any rate and channels; - or a FIFO for WAV or raw PCM from a pipe"),
            .value(
                "output", short: "o", "FILE", completion: .file,
                "keep what the agent says, as 48 kHz mono WAV; - or a FIFO for a pipe"),
            .value(
                "microphone", "NAME", environment: "AGENTCTL_MICROPHONE", config: "microphone", defaultText: "default",
                "ALSA device to capture from where no --input is given"),
            .value(
                "speaker", "NAME", environment: "AGENTCTL_SPEAKER", config: "speaker",
                defaultText: "default with a microphone, else none", "ALSA device to play the agent on; none for none"),
            .value("tone", "HZ", "send a tone instead of a microphone"),
            .flag("silence", "send silence instead of a microphone"),
            .value("duration", "SECONDS", "end a conversation without --input after so long"),
            .value(
                "mix", "FILE", completion: .file, "mix a file into the microphone, over and over"),
            .value("mix-gain", "DB", defaultText: "0", "gain of --mix"),
            .value("record", "DIR", completion: .file, "keep both sides' sound and every event in a folder"),
            .flag("mute", "start with the microphone muted"),
            .value(
                "input-format", "FORMAT", defaultText: "auto",
                completion: .choices(["auto", "wav", "raw"]), "of a pipe: auto, wav or raw"),
            .value(
                "output-format", "FORMAT", defaultText: "wav", completion: .choices(["wav", "raw"]),
                "of a pipe: wav or raw (48 kHz mono s16)"),
            .value(
                "raw-format", "F:HZ:N", defaultText: "s16:48000:1",
                "raw input: s16, s24, s32 or f32, rate, channels"),
            .value("lead-in", "MS", config: "lead_in", defaultText: "200", "silence before the recording"),
            .value(
                "trailing-silence", "MS", config: "trailing_silence", defaultText: "800",
                "silence after it, before the wait for the answer"),
        ])

    static let processing = CommandSpec.Group(
        title: "Microphone",
        options: [
            .flag(
                "preconnect", negatable: true, config: "preconnect",
                "hand the agent what was said before it could hear (default: on)"),
            .value(
                "pre-connect-buffer", "SECONDS", config: "pre_connect_buffer", defaultText: "10",
                "how much of that is kept"),
            .flag(
                "echo-cancellation", negatable: true, config: "echo_cancellation",
                "take the speaker out of the microphone (default: on with a microphone)"),
            .flag("noise-suppression", negatable: true, config: "noise_suppression", "(default: on with a microphone)"),
            .flag("gain-control", negatable: true, config: "gain_control", "(default: on with a microphone)"),
            .flag("high-pass", negatable: true, config: "high_pass", "(default: on with a microphone)"),
        ])

    static let codec = CommandSpec.Group(
        title: "Opus",
        options: [
            .value("bitrate", "BITS", config: "bitrate", defaultText: "32000", "bits a second"),
            .value("complexity", "N", config: "complexity", defaultText: "9", "0 to 10"),
            .value(
                "frame", "MS", config: "frame", defaultText: "20", completion: .choices(["10", "20", "40", "60"]),
                "length of a packet: 10, 20, 40 or 60"),
            .flag("fec", negatable: true, config: "fec", "in-band error correction (default: on)"),
            .value(
                "expected-loss", "PERCENT", config: "expected_loss",
                defaultText: "what the receiver reports", "loss that error correction is made for"),
            .flag(
                "dtx", negatable: true, config: "dtx", "send next to nothing in silence (default: on with a microphone)"
            ),
            .flag("red", negatable: true, config: "red", "redundant audio, RFC 2198 (default: on)"),
            .flag("stereo", config: "stereo", "send two channels, with the same signal"),
        ])

    /// What the settings say of the sound. Devices are opened here: they capture from now on.
    static func apply(_ settings: Settings, to configuration: inout SessionConfiguration) throws {
        let recording = try input(settings)
        let isMicrophone = recording == nil
        try applyProcessing(settings, isMicrophone: isMicrophone, to: &configuration)
        try applyCodec(settings, isMicrophone: isMicrophone, to: &configuration)
        configuration.recordDirectory = try settings.string("record")
        configuration.isMuted = try settings.flag("mute") ?? false
        configuration.duration = try settings.seconds("duration", in: 0.1...1e6)
        if let path = try settings.string("mix") {
            let text = try settings.string("mix-gain") ?? "0"
            guard let gain = Double(text), (-60...20).contains(gain) else {
                throw UsageError(description: "--mix-gain is '\(text)'; it has to be dB from -60 to 20")
            }
            configuration.mix = (path, gain)
        }
        if let leadIn = try settings.milliseconds("lead-in", in: 0...60_000) { configuration.leadIn = leadIn }
        if let trailing = try settings.milliseconds("trailing-silence", in: 0...60_000) {
            configuration.trailingSilence = trailing
        }
        // Last, when everything else is known to be right.
        configuration.input =
            try recording ?? .microphone(CaptureDevice(name: try settings.string("microphone") ?? "default"))
        configuration.output = try output(settings)
        let speaker = try settings.string("speaker") ?? (isMicrophone ? "default" : "none")
        if speaker != "none" { configuration.speaker = try PlaybackDevice(name: speaker) }
    }

    /// Whether standard output carries sound, so that text has to go elsewhere.
    static func usesStandardOutput(_ settings: Settings) -> Bool {
        settings.arguments.values["output"]?.last == "-"
    }

    /// What is said instead of what a microphone hears; nil for a microphone.
    private static func input(_ settings: Settings) throws -> SessionConfiguration.Input? {
        let path = try settings.string("input")
        let tone = try settings.string("tone")
        let isSilence = try settings.flag("silence") == true
        let given = [
            path == nil ? nil : "--input", tone == nil ? nil : "--tone", isSilence ? "--silence" : nil,
            settings.arguments.values["microphone"] == nil ? nil : "--microphone",
        ].compactMap { $0 }
        if given.count > 1 {
            throw UsageError(description: "\(given[0]) and \(given[1]) are two sources of sound; give one")
        }
        if let tone {
            guard let frequency = Double(tone), (20...20_000).contains(frequency) else {
                throw UsageError(description: "--tone is '\(tone)'; it has to be Hz from 20 to 20000")
            }
            return .tone(frequency: frequency, level: 12)
        }
        if isSilence { return .silence }
        guard let path else { return nil }
        if path == "-" {
            return .stream(descriptor: STDIN_FILENO, name: "standard input", format: try streamFormat(settings))
        }
        guard kind(of: path) == S_IFIFO else { return .file(path) }
        return .stream(
            descriptor: try open(path, O_RDONLY | O_CLOEXEC), name: path, format: try streamFormat(settings))
    }

    private static func streamFormat(_ settings: Settings) throws(UsageError) -> StreamReader.Format {
        let text = try settings.string("raw-format") ?? "s16:48000:1"
        guard let raw = RawAudioFormat(text) else {
            throw UsageError(
                description:
                    "--raw-format is '\(text)'; write it as s16, s24, s32 or f32, :rate, :channels: s16:16000:1")
        }
        switch try settings.string("input-format") ?? "auto" {
        case "auto": return .automatic(raw)
        case "wav": return .wav
        case "raw": return .raw(raw)
        case let other: throw UsageError(description: "--input-format is '\(other)'; it has to be auto, wav or raw")
        }
    }

    private static func output(_ settings: Settings) throws -> SessionConfiguration.Output? {
        guard let path = try settings.string("output") else { return nil }
        let format = try settings.string("output-format") ?? "wav"
        guard ["wav", "raw"].contains(format) else {
            throw UsageError(description: "--output-format is '\(format)'; it has to be wav or raw")
        }
        if path == "-" {
            return .stream(descriptor: STDOUT_FILENO, name: "standard output", isWAV: format == "wav")
        }
        guard kind(of: path) == S_IFIFO else {
            guard format == "wav" else {
                throw UsageError(description: "--output-format raw is for pipes; a file is always WAV")
            }
            return .file(path)
        }
        return .stream(descriptor: try open(path, O_WRONLY | O_CLOEXEC), name: path, isWAV: format == "wav")
    }

    private static func kind(of path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    /// Opens a FIFO; waits until somebody opens its other end.
    private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
        let descriptor = Foundation.open(path, flags)
        guard descriptor >= 0 else {
            throw SessionError(.audio, "\"\(path)\" cannot be opened: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }

    private static func applyProcessing(
        _ settings: Settings, isMicrophone: Bool, to configuration: inout SessionConfiguration
    ) throws(UsageError) {
        var options = VoiceProcessor.Options()
        options.echoCancellation = try settings.flag("echo-cancellation") ?? isMicrophone
        options.noiseSuppression = try settings.flag("noise-suppression") ?? isMicrophone
        options.gainControl = try settings.flag("gain-control") ?? isMicrophone
        options.highPass = try settings.flag("high-pass") ?? isMicrophone
        options.voiceDetection = false
        configuration.processing = options.isAnythingOn ? options : nil
        if let bound = try settings.seconds("pre-connect-buffer", in: 0.1...60) {
            configuration.preConnectBuffer = bound
        }
        if try settings.flag("preconnect") == false { configuration.preConnectBuffer = nil }
    }

    private static func applyCodec(
        _ settings: Settings, isMicrophone: Bool, to configuration: inout SessionConfiguration
    ) throws(UsageError) {
        if let bitrate = try settings.integer("bitrate", in: 6_000...510_000, unit: "bits a second") {
            configuration.encoder.bitrate = bitrate
        }
        if let complexity = try settings.integer("complexity", in: 0...10, unit: "") {
            configuration.encoder.complexity = complexity
        }
        if let text = try settings.string("frame") {
            guard let milliseconds = Int(text), let frame = OpusEncoder.FrameDuration(rawValue: milliseconds) else {
                throw UsageError(description: "--frame is '\(text)'; it has to be 10, 20, 40 or 60 ms")
            }
            configuration.encoder.frameDuration = frame
        }
        if let fec = try settings.flag("fec") { configuration.encoder.fec = fec }
        if let loss = try settings.integer("expected-loss", in: 0...100, unit: "%") {
            configuration.encoder.expectedPacketLoss = loss
            configuration.adaptsToLoss = false
        }
        configuration.encoder.dtx = try settings.flag("dtx") ?? isMicrophone
        if try settings.flag("stereo") == true { configuration.encoder.channels = 2 }
        if let red = try settings.flag("red") {
            configuration.redundantAudio = red
            configuration.room.allowsRedundantAudio = red
        }
    }
}
