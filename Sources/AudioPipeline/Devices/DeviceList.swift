import CALSA

/// A PCM that ALSA offers, and what it can do.
public struct AudioDeviceInfo: Sendable, Equatable {
    /// The name to open it by.
    public var name: String
    /// What ALSA says of it, on one line.
    public var summary: String
    public var capture: Abilities?
    public var playback: Abilities?
    /// Why a direction that it offers cannot be used now.
    public var problem: AudioDeviceError?

    /// What a device can do in one direction.
    public struct Abilities: Sendable, Equatable {
        /// In the order of preference.
        public var formats: [PCMFormat]
        /// Hz.
        public var rates: ClosedRange<Int>
        public var channels: ClosedRange<Int>
    }

    /// All that ALSA lists, `default` first. Opens each for a moment.
    public static func all() -> [AudioDeviceInfo] {
        ALSALibrary.prepare()
        var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        guard snd_device_name_hint(-1, "pcm", &hints) >= 0, let first = hints else { return [] }
        defer { snd_device_name_free_hint(hints) }
        var found: [AudioDeviceInfo] = []
        var entry = first
        while let hint = entry.pointee {
            entry += 1
            guard let name = text(hint, "NAME"), !printers.contains(name), !found.contains(where: { $0.name == name })
            else { continue }
            let info = probe(name: name, summary: text(hint, "DESC") ?? "", direction: text(hint, "IOID"))
            // Plug-ins that lead nowhere without a card are listed by ALSA all the same.
            if info.isUsable || info.isWorthTelling { found.append(info) }
        }
        return found.filter { $0.name == "default" } + found.filter { $0.name != "default" }
    }

    /// Plug-ins whose libraries write to stderr as soon as they are opened.
    private static let printers: Set<String> = ["jack", "oss"]

    /// It can be opened now, in one direction at least.
    public var isUsable: Bool { capture != nil || playback != nil }

    private var isWorthTelling: Bool {
        switch problem {
        case .notFound?: false
        default: true
        }
    }

    /// What one device can do.
    public static func probe(name: String) -> AudioDeviceInfo {
        return probe(name: name, summary: "", direction: nil)
    }

    private static func probe(name: String, summary: String, direction: String?) -> AudioDeviceInfo {
        var info = AudioDeviceInfo(
            name: name, summary: summary.split(separator: "\n").joined(separator: ", "))
        if direction != "Output" { info.capture = info.abilities(.capture) }
        if direction != "Input" { info.playback = info.abilities(.playback) }
        // A device that works one way need not work the other.
        if direction == nil, info.isUsable { info.problem = nil }
        return info
    }

    private mutating func abilities(_ direction: AudioDeviceError.Direction) -> Abilities? {
        var opened: OpaquePointer?
        let stream = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        ALSALibrary.prepare()
        let code = snd_pcm_open(&opened, name, stream, Int32(SND_PCM_NONBLOCK))
        guard code >= 0, let opened else {
            problem = PCMDevice.openingError(name, direction, code: code)
            return nil
        }
        defer { snd_pcm_close(opened) }
        var parameters: OpaquePointer?
        guard snd_pcm_hw_params_malloc(&parameters) >= 0, let parameters else { return nil }
        defer { snd_pcm_hw_params_free(parameters) }
        guard snd_pcm_hw_params_any(opened, parameters) >= 0 else { return nil }
        var low: UInt32 = 0
        var high: UInt32 = 0
        snd_pcm_hw_params_get_rate_min(parameters, &low, nil)
        snd_pcm_hw_params_get_rate_max(parameters, &high, nil)
        let rates = Int(low)...max(Int(low), Int(high))
        snd_pcm_hw_params_get_channels_min(parameters, &low)
        snd_pcm_hw_params_get_channels_max(parameters, &high)
        return Abilities(
            formats: PCMFormat.allCases.filter { snd_pcm_hw_params_test_format(opened, parameters, $0.alsa) == 0 },
            rates: rates, channels: Int(low)...max(Int(low), Int(high)))
    }

    private static func text(_ hint: UnsafeMutableRawPointer, _ name: String) -> String? {
        guard let value = snd_device_name_get_hint(hint, name) else { return nil }
        defer { free(value) }
        return String(cString: value)
    }
}
