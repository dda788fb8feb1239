import AgentCore
import AudioPipeline
import Foundation
import LoopCore

/// `agentctl devices`: what ALSA offers, and whether it works.
enum DevicesCommand {
    static let spec = CommandSpec(
        name: "devices",
        summary: "List sound devices, or test the microphone and the speaker",
        discussion:
            "Lists what ALSA offers, with the formats, rates and channels of each; sound servers such as PulseAudio and "
            + "PipeWire appear as devices too. --test records for some seconds, showing the level, and plays that back.",
        argument: nil,
        groups: [
            CommandSpec.Group(
                title: "Test",
                options: [
                    .flag("test", "record with a level meter, then play what was recorded"),
                    .value(
                        "microphone", "NAME", environment: "AGENTCTL_MICROPHONE", config: "microphone",
                        defaultText: "default", "device to record from"),
                    .value(
                        "speaker", "NAME", environment: "AGENTCTL_SPEAKER", config: "speaker", defaultText: "default",
                        "device to play on; none for none"),
                    .value("seconds", "SECONDS", defaultText: "3", "how long to record"),
                ]),
            CommandSpec.Group(
                title: "Output",
                options: [
                    .flag("json", "print JSON"),
                    .value("config", "FILE", completion: .file, "configuration file"),
                ]),
        ],
        examples: [
            ("agentctl devices", "what there is"),
            ("agentctl devices --test --microphone plughw:1", "hear yourself through one card"),
        ],
        run: { settings in
            do {
                return try await run(settings)
            } catch let error as UsageError {
                return TalkCommand.fail(error.description, code: ExitCode.usage)
            } catch {
                return TalkCommand.fail("\(error)", code: SessionError.Category.audio.rawValue)
            }
        })

    private static func run(_ settings: Settings) async throws -> Int32 {
        let isJSON = try settings.flag("json") == true
        if try settings.flag("test") == true { return try await test(settings, isJSON: isJSON) }
        let devices = AudioDeviceInfo.all()
        if isJSON {
            Output.shared.writeLine(
                JSONValue.object([("schema", .integer(1)), ("devices", .array(devices.map(\.json)))]).line)
        } else {
            for device in devices { Output.shared.write(text(device)) }
        }
        guard devices.contains(where: { $0.isUsable && $0.name != "null" }) else {
            let reason = devices.first { $0.name == "default" }?.problem?.description
            return TalkCommand.fail(
                reason ?? "ALSA lists no sound device", code: SessionError.Category.audio.rawValue)
        }
        return ExitCode.done
    }

    private static func text(_ device: AudioDeviceInfo) -> String {
        var text = TerminalText.sanitized(device.name) + "\n"
        if !device.summary.isEmpty { text += "    " + TerminalText.sanitized(device.summary) + "\n" }
        if let capture = device.capture { text += "    capture   " + abilities(capture) + "\n" }
        if let playback = device.playback { text += "    playback  " + abilities(playback) + "\n" }
        if let problem = device.problem {
            text += "    not now   " + TerminalText.sanitized(problem.description) + "\n"
        }
        return text
    }

    private static func abilities(_ abilities: AudioDeviceInfo.Abilities) -> String {
        let formats = abilities.formats.map(\.rawValue).joined(separator: " ")
        let rates = range(abilities.rates, limit: 384_000)
        return "\(formats), \(rates) Hz, \(range(abilities.channels, limit: 64)) channels"
    }

    /// ALSA says millions where it means "any".
    private static func range(_ range: ClosedRange<Int>, limit: Int) -> String {
        if range.lowerBound == range.upperBound { return "\(range.lowerBound)" }
        return range.upperBound > limit ? "\(range.lowerBound) and more" : "\(range.lowerBound) to \(range.upperBound)"
    }

    // MARK: Test

    private static func test(_ settings: Settings, isJSON: Bool) async throws -> Int32 {
        let duration = try settings.seconds("seconds", in: 0.1...60) ?? .seconds(3)
        let started = MonotonicTime.now
        let microphone = try CaptureDevice(name: try settings.string("microphone") ?? "default")
        defer { microphone.stop() }
        let interruption = Interruption()
        let signals = Signals { interruption.set($0) }
        defer { withExtendedLifetime(signals) {} }
        var recorded: [Int16] = []
        var peak = -127.0
        while MonotonicTime.now - started < duration, interruption.exitCode == nil {
            try? await Task.sleep(for: .milliseconds(50))
            let samples = microphone.ring.read(microphone.ring.capacity)
            guard !samples.isEmpty else { continue }
            let level = AudioLevel.decibels(samples)
            peak = max(peak, level)
            recorded += samples
            meter(level, isJSON: isJSON, since: started)
        }
        if !isJSON, Output.shared.isTerminal { Output.shared.write("\n") }
        microphone.stop()
        if let code = interruption.exitCode { return code }
        report("microphone", microphone.name, microphone.configuration, microphone.statistics, peak, isJSON: isJSON)
        let name = try settings.string("speaker") ?? "default"
        if name != "none" {
            let speaker = try PlaybackDevice(name: name)
            defer { speaker.stop() }
            try await play(recorded, rate: microphone.configuration.rate, on: speaker, interruption)
            speaker.stop()
            report("speaker", speaker.name, speaker.configuration, speaker.statistics, nil, isJSON: isJSON)
        }
        guard peak > -100 else {
            return TalkCommand.fail(
                "the microphone \"\(microphone.name)\" gave only silence. Check that it is not muted (alsamixer, or the "
                    + "sound settings), and that it is the right one (agentctl devices)",
                code: SessionError.Category.audio.rawValue)
        }
        return interruption.exitCode ?? ExitCode.done
    }

    private static func play(
        _ samples: [Int16], rate: Int, on speaker: PlaybackDevice, _ interruption: Interruption
    ) async throws {
        let sound = Resampler.convert(samples, from: rate, to: speaker.configuration.rate) ?? samples
        var position = 0
        while position < sound.count || speaker.ring.count > 0, interruption.exitCode == nil {
            let end = min(sound.count, position + speaker.ring.capacity / 4)
            if end > position { position += speaker.ring.write(Array(sound[position..<end])) }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private static func meter(_ level: Double, isJSON: Bool, since started: MonotonicTime) {
        if isJSON {
            let seconds = ((MonotonicTime.now - started).inSeconds * 1000).rounded() / 1000
            Output.shared.writeLine(
                JSONValue.object([
                    ("type", .string("level")), ("t", .number(seconds)), ("dbfs", .number((level * 10).rounded() / 10)),
                ]).line)
        } else if Output.shared.isTerminal {
            let filled = max(0, min(30, Int((level + 60) / 2)))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
            Output.shared.write(String(format: "\r%@ %6.1f dB", bar, max(level, -99.9)))
        }
    }

    private static func report(
        _ role: String, _ name: String, _ configuration: PCMConfiguration, _ statistics: DeviceStatistics,
        _ peak: Double?, isJSON: Bool
    ) {
        if isJSON {
            Output.shared.writeLine(
                JSONValue.object([
                    ("type", .string(role)), ("name", .string(name)),
                    ("format", .string(configuration.format.rawValue)),
                    ("rate", .integer(Int64(configuration.rate))),
                    ("channels", .integer(Int64(configuration.channels))),
                    ("period_frames", .integer(Int64(configuration.periodFrames))),
                    ("buffer_frames", .integer(Int64(configuration.bufferFrames))),
                    ("frames", .integer(Int64(statistics.frames))), ("xruns", .integer(Int64(statistics.xruns))),
                    ("silent_frames", .integer(Int64(statistics.silentFrames))),
                    ("scheduling", .string(statistics.scheduling.description)),
                    ("peak_dbfs", peak.map { .number(($0 * 10).rounded() / 10) } ?? .null),
                ]).line)
            return
        }
        var text =
            "\(role) \(name): \(configuration.format.rawValue), \(configuration.rate) Hz, "
            + "\(configuration.channels) channels, period \(configuration.periodFrames), buffer \(configuration.bufferFrames) frames, "
            + "\(statistics.scheduling), \(statistics.frames) frames, \(statistics.xruns) xruns"
        if statistics.silentFrames > 0 { text += ", \(statistics.silentFrames) frames of silence put in" }
        if let peak { text += String(format: ", loudest %.1f dB", peak) }
        Output.shared.writeLine(TerminalText.sanitized(text))
    }
}

extension AudioDeviceInfo {
    fileprivate var json: JSONValue {
        .object([
            ("name", .string(name)), ("summary", .string(summary)), ("capture", capture?.json ?? .null),
            ("playback", playback?.json ?? .null),
            ("problem", problem.map { .string($0.description) } ?? .null),
        ])
    }
}

extension AudioDeviceInfo.Abilities {
    fileprivate var json: JSONValue {
        .object([
            ("formats", .array(formats.map { .string($0.rawValue) })),
            ("rate_min", .integer(Int64(rates.lowerBound))), ("rate_max", .integer(Int64(rates.upperBound))),
            ("channels_min", .integer(Int64(channels.lowerBound))),
            ("channels_max", .integer(Int64(channels.upperBound))),
        ])
    }
}
