import CALSA
import Glibc
import LoopCore

/// What was agreed with a device.
public struct PCMConfiguration: Sendable, Equatable {
    public var format: PCMFormat
    /// Hz.
    public var rate: Int
    public var channels: Int
    /// Frames between two wake-ups.
    public var periodFrames: Int
    /// Frames that the device keeps.
    public var bufferFrames: Int
}

/// An open ALSA PCM, in non-blocking interleaved mode. Used by one thread at a time.
///
/// What a real-time thread calls (`start`, `available`, `read`, `write`, `delay`, `recover`) does not allocate.
final class PCMDevice {
    let name: String
    let direction: AudioDeviceError.Direction
    let configuration: PCMConfiguration
    private let pcm: OpaquePointer

    /// The period asked for, in ms.
    static let periodMilliseconds = 10
    /// What a device may keep: much for capture, where it costs nothing; little for playback, where it is delay.
    private static func bufferMilliseconds(_ direction: AudioDeviceError.Direction) -> Int {
        direction == .capture ? 200 : 40
    }

    /// Opens `name` (any name that ALSA knows) and agrees on what is nearest to 48 kHz mono 16-bit.
    init(name: String, direction: AudioDeviceError.Direction) throws(AudioDeviceError) {
        ALSALibrary.prepare()
        var opened: OpaquePointer?
        let stream = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        let code = snd_pcm_open(&opened, name, stream, Int32(SND_PCM_NONBLOCK))
        guard code >= 0, let opened else { throw Self.openingError(name, direction, code: code) }
        switch Self.configure(opened, direction) {
        case .success(let configuration):
            self.name = name
            self.direction = direction
            self.configuration = configuration
            pcm = opened
        case .failure(let failure):
            snd_pcm_close(opened)
            throw failure.error(name, direction)
        }
    }

    deinit {
        snd_pcm_close(pcm)
    }

    // MARK: Opening

    private struct Failure: Error {
        var operation: String
        var code: Int32
        var isUnsupported = false

        func error(_ name: String, _ direction: AudioDeviceError.Direction) -> AudioDeviceError {
            let reason = code < 0 ? String(cString: snd_strerror(code)) : operation
            if isUnsupported { return .unsupported(device: name, direction, reason: operation) }
            return .failed(device: name, direction, operation: operation, reason: reason)
        }
    }

    static func openingError(
        _ name: String, _ direction: AudioDeviceError.Direction, code: Int32
    ) -> AudioDeviceError {
        let said = ALSALibrary.message
        switch -code {
        case EBUSY, EAGAIN: return .busy(device: name, direction, holder: DeviceHolder.find(direction, device: name))
        case EACCES, EPERM: return .notPermitted(device: name, direction)
        case ECONNREFUSED, ETIMEDOUT: return .serverUnreachable(device: name, direction)
        case ENOENT, ENODEV, ENXIO:
            if !SoundCards.exist, ["default", "sysdefault", "hw", "plughw"].contains(baseName(name)) {
                return .noSound(device: name, direction)
            }
            return .notFound(device: name, direction, reason: said)
        default:
            return .failed(
                device: name, direction, operation: "be opened",
                reason: String(cString: snd_strerror(code)) + (said.isEmpty ? "" : "; \(said)"))
        }
    }

    private static func baseName(_ name: String) -> String {
        String(name.prefix { $0 != ":" })
    }

    private static func configure(
        _ pcm: OpaquePointer, _ direction: AudioDeviceError.Direction
    ) -> Result<PCMConfiguration, Failure> {
        var parameters: OpaquePointer?
        guard snd_pcm_hw_params_malloc(&parameters) >= 0, let parameters else {
            return .failure(Failure(operation: "be set up", code: -ENOMEM))
        }
        defer { snd_pcm_hw_params_free(parameters) }
        func check(_ operation: String, _ code: Int32) throws(Failure) {
            if code < 0 { throw Failure(operation: operation, code: code) }
        }
        do throws(Failure) {
            try check("tell what it can do", snd_pcm_hw_params_any(pcm, parameters))
            try check(
                "be used interleaved",
                snd_pcm_hw_params_set_access(pcm, parameters, SND_PCM_ACCESS_RW_INTERLEAVED))
            guard
                let format = PCMFormat.allCases.first(where: {
                    snd_pcm_hw_params_test_format(pcm, parameters, $0.alsa) == 0
                })
            else {
                throw Failure(
                    operation: "it has none of the sample formats S16, S24, S32 and FLOAT", code: 0, isUnsupported: true
                )
            }
            try check("take \(format.rawValue)", snd_pcm_hw_params_set_format(pcm, parameters, format.alsa))
            let channels = try agreeOnChannels(pcm, parameters)
            var rate = UInt32(AudioFormat.sampleRate)
            if snd_pcm_hw_params_set_rate(pcm, parameters, rate, 0) < 0 {
                try check("take a sample rate", snd_pcm_hw_params_set_rate_near(pcm, parameters, &rate, nil))
            }
            guard (4_000...384_000).contains(rate) else {
                throw Failure(operation: "its sample rate is \(rate) Hz", code: 0, isUnsupported: true)
            }
            var period = snd_pcm_uframes_t(Int(rate) * periodMilliseconds / 1000)
            try check("take a period", snd_pcm_hw_params_set_period_size_near(pcm, parameters, &period, nil))
            var buffer = snd_pcm_uframes_t(max(Int(rate) * bufferMilliseconds(direction) / 1000, 2 * Int(period)))
            try check("take a buffer", snd_pcm_hw_params_set_buffer_size_near(pcm, parameters, &buffer))
            try check("be configured", snd_pcm_hw_params(pcm, parameters))
            snd_pcm_hw_params_get_period_size(parameters, &period, nil)
            snd_pcm_hw_params_get_buffer_size(parameters, &buffer)
            try setThresholds(pcm, direction, period: period, buffer: buffer)
            try check("be prepared", snd_pcm_prepare(pcm))
            return .success(
                PCMConfiguration(
                    format: format, rate: Int(rate), channels: channels, periodFrames: Int(period),
                    bufferFrames: Int(buffer)))
        } catch {
            return .failure(error)
        }
    }

    private static func agreeOnChannels(
        _ pcm: OpaquePointer, _ parameters: OpaquePointer
    ) throws(Failure) -> Int {
        for count: UInt32 in [1, 2] where snd_pcm_hw_params_set_channels(pcm, parameters, count) >= 0 {
            return Int(count)
        }
        var count: UInt32 = 1
        let code = snd_pcm_hw_params_set_channels_near(pcm, parameters, &count)
        guard code >= 0, count <= 64 else { throw Failure(operation: "take a number of channels", code: code) }
        return Int(count)
    }

    private static func setThresholds(
        _ pcm: OpaquePointer, _ direction: AudioDeviceError.Direction, period: snd_pcm_uframes_t,
        buffer: snd_pcm_uframes_t
    ) throws(Failure) {
        var parameters: OpaquePointer?
        guard snd_pcm_sw_params_malloc(&parameters) >= 0, let parameters else {
            throw Failure(operation: "be set up", code: -ENOMEM)
        }
        defer { snd_pcm_sw_params_free(parameters) }
        snd_pcm_sw_params_current(pcm, parameters)
        snd_pcm_sw_params_set_avail_min(pcm, parameters, period)
        snd_pcm_sw_params_set_start_threshold(
            pcm, parameters, direction == .capture ? 1 : max(period, buffer / period / 2 * period))
        let code = snd_pcm_sw_params(pcm, parameters)
        if code < 0 { throw Failure(operation: "be set up", code: code) }
    }

    // MARK: For the real-time thread

    /// Starts a capture device; playback starts when enough has been written.
    func start() -> Int32 { snd_pcm_start(pcm) }

    func stop() { snd_pcm_drop(pcm) }

    /// Plays what was written; waits for it.
    func drain() {
        snd_pcm_nonblock(pcm, 0)
        snd_pcm_drain(pcm)
    }

    /// Frames that can be read or written now, or a negative error code.
    func available() -> Int { Int(snd_pcm_avail_update(pcm)) }

    /// Frames between the device's sound and the program: captured and not read, or written and not heard.
    func delay() -> Int {
        var frames: snd_pcm_sframes_t = 0
        return snd_pcm_delay(pcm, &frames) >= 0 ? max(0, Int(frames)) : 0
    }

    /// Reads at most `frames` frames. Returns their number, or a negative error code.
    func read(into bytes: UnsafeMutableRawPointer, frames: Int) -> Int {
        Int(snd_pcm_readi(pcm, bytes, snd_pcm_uframes_t(frames)))
    }

    /// Writes at most `frames` frames. Returns their number, or a negative error code.
    func write(_ bytes: UnsafeRawPointer, frames: Int) -> Int {
        Int(snd_pcm_writei(pcm, bytes, snd_pcm_uframes_t(frames)))
    }

    /// How many descriptors `poll(2)` has to watch.
    var pollCount: Int { Int(max(0, snd_pcm_poll_descriptors_count(pcm))) }

    func fill(_ descriptors: UnsafeMutablePointer<pollfd>, count: Int) {
        snd_pcm_poll_descriptors(pcm, descriptors, UInt32(count))
    }

    /// What the descriptors say of the device (`POLLIN`, `POLLOUT`, `POLLERR`).
    func events(_ descriptors: UnsafeMutablePointer<pollfd>, count: Int) -> Int16 {
        var events: UInt16 = 0
        guard snd_pcm_poll_descriptors_revents(pcm, descriptors, UInt32(count), &events) >= 0 else { return 0 }
        return Int16(bitPattern: events)
    }

    enum Trouble {
        /// An overrun or underrun (`-EPIPE`): prepared again.
        case xrun
        /// The machine slept (`-ESTRPIPE`): resumed or prepared again.
        case suspended
        /// The device is gone, or will not go on.
        case lost
    }

    /// Gets the device going again after `code`.
    func recover(from code: Int) -> Trouble {
        switch Int32(-code) {
        case EPIPE: return snd_pcm_prepare(pcm) >= 0 ? .xrun : .lost
        case ESTRPIPE:
            let resumed = snd_pcm_resume(pcm)
            if resumed >= 0 || snd_pcm_prepare(pcm) >= 0 { return .suspended }
            return .lost
        default: return .lost
        }
    }

    var isDisconnected: Bool { snd_pcm_state(pcm) == SND_PCM_STATE_DISCONNECTED }
}
