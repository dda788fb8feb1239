/// Why a sound device cannot be used. The description says what happened, to which device, and what to do next.
public enum AudioDeviceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no sound card and no sound server.
    case noSound(device: String, Direction)
    /// No PCM of that name.
    case notFound(device: String, Direction, reason: String)
    /// Another process has it; which, as far as `/proc` tells.
    case busy(device: String, Direction, holder: String?)
    case notPermitted(device: String, Direction)
    /// It takes none of the formats, rates or numbers of channels that are known here.
    case unsupported(device: String, Direction, reason: String)
    /// The sound server behind it does not answer.
    case serverUnreachable(device: String, Direction)
    case failed(device: String, Direction, operation: String, reason: String)

    public enum Direction: String, Sendable {
        case capture, playback

        var noun: String { self == .capture ? "microphone" : "loudspeaker" }
        var option: String { self == .capture ? "--microphone" : "--speaker" }
    }

    public var description: String {
        switch self {
        case .noSound(let device, let direction):
            "there is no \(direction.noun): ALSA's \"\(device)\" leads to no sound card (nothing in /proc/asound/cards) "
                + "and no sound server. In a container, pass the devices in (--device /dev/snd) or the socket of "
                + "PulseAudio or PipeWire; without sound, say a recording with --input FILE"
        case .notFound(let device, let direction, let reason):
            "ALSA knows no \(direction.noun) \"\(device)\"\(Self.because(reason)). `agentctl devices` lists what there "
                + "is; name one with \(direction.option)"
        case .busy(let device, let direction, let holder?):
            "the \(direction.noun) \"\(device)\" is in use by \(holder). End that, or name another with "
                + direction.option
        case .busy(let device, let direction, nil):
            "the \(direction.noun) \"\(device)\" is in use by another process (which, /proc does not tell this user). "
                + "Use a sound server's device, end that process, or name another with \(direction.option)"
        case .notPermitted(let device, let direction):
            "the \(direction.noun) \"\(device)\" may not be opened by this user. Join the group that owns /dev/snd "
                + "(usually: sudo usermod -aG audio $USER, then log in anew)"
        case .unsupported(let device, let direction, let reason):
            "the \(direction.noun) \"\(device)\" cannot be used: \(reason). Name it through ALSA's conversion instead: "
                + "\(direction.option) plug\(device)"
        case .serverUnreachable(let device, let direction):
            "the \(direction.noun) \"\(device)\" belongs to a sound server that does not answer. Start it (systemctl "
                + "--user start pipewire-pulse, or pulseaudio --start), or name a card with \(direction.option) hw:0"
        case .failed(let device, let direction, let operation, let reason):
            "the \(direction.noun) \"\(device)\" could not \(operation): \(reason). Try another with \(direction.option)"
        }
    }

    private static func because(_ reason: String) -> String {
        reason.isEmpty ? "" : " (\(reason))"
    }
}
