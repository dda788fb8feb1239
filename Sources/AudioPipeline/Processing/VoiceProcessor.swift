import CAudioProcessing
import LoopCore

/// Cleans the microphone's signal with WebRTC's audio processing: echo cancellation, noise suppression, gain control,
/// high-pass filter and voice activity detection. Works in place on frames of 10 ms, 48 kHz mono, and allocates nothing
/// while it works. Used by one thread at a time.
public final class VoiceProcessor {
    public struct Options: Sendable, Equatable {
        public var echoCancellation = true
        public var noiseSuppression = true
        public var gainControl = true
        /// Takes out what is below the voice: steady offsets, rumble.
        public var highPass = true
        /// Fills in ``VoiceProcessor/hasVoice``.
        public var voiceDetection = true

        public init() {}

        /// Whether there is anything to do.
        public var isAnythingOn: Bool {
            echoCancellation || noiseSuppression || gainControl || highPass || voiceDetection
        }
    }

    /// What the echo canceller found; nil where it does not know yet.
    public struct Statistics: Sendable, Equatable {
        /// How much quieter the echo is than what is played (ERL), dB.
        public var echoReturnLoss: Int?
        /// How much of the echo is taken out (ERLE), dB: by the filter and the suppressor after it.
        public var echoReturnLossEnhancement: Int?
        /// From ``VoiceProcessor/playback(_:)`` to the echo, as found in the signals and not as told, ms; to some 10 ms.
        public var delayMilliseconds: Int?

        public init() {}
    }

    /// Samples in a frame.
    public static let frameLength = 480

    public let options: Options
    private let processor: OpaquePointer
    private var echoDelay = EchoDelay()

    /// - Returns: nil without memory, or when the library refuses.
    public init?(_ options: Options = Options()) {
        var settings = apm_options()
        settings.echo_cancellation = options.echoCancellation
        settings.noise_suppression = options.noiseSuppression
        settings.gain_control = options.gainControl
        settings.high_pass = options.highPass
        settings.voice_detection = options.voiceDetection
        guard let processor = apm_create(settings) else { return nil }
        self.processor = processor
        self.options = options
    }

    deinit {
        apm_destroy(processor)
    }

    /// Takes a frame that is about to be played. Frames of another length are not taken.
    @discardableResult
    public func playback(_ frame: UnsafeBufferPointer<Int16>) -> Bool {
        guard frame.count == Self.frameLength, let samples = frame.baseAddress else { return false }
        return apm_playback(processor, samples) == 0
    }

    /// Cleans a captured frame in place. Frames of another length are left as they are.
    /// - Parameter delay: from ``playback(_:)`` to the moment in which its echo comes here, 0 to 500 ms. It may be
    ///   wrong by 50 ms, and waver.
    @discardableResult
    public func capture(_ frame: UnsafeMutableBufferPointer<Int16>, delay: Duration) -> Bool {
        guard frame.count == Self.frameLength, let samples = frame.baseAddress else { return false }
        return apm_capture(processor, samples, Int32(echoDelay.update(delay))) == 0
    }

    /// As for a buffer.
    @discardableResult
    public func playback(_ frame: [Int16]) -> Bool {
        frame.withUnsafeBufferPointer { playback($0) }
    }

    /// As for a buffer.
    @discardableResult
    public func capture(_ frame: inout [Int16], delay: Duration) -> Bool {
        frame.withUnsafeMutableBufferPointer { capture($0, delay: delay) }
    }

    /// Whether the last captured frame was voice; false where that is not looked for.
    public var hasVoice: Bool { apm_has_voice(processor) }

    public var statistics: Statistics {
        let found = apm_get_statistics(processor)
        var result = Statistics()
        if found.has_echo_metrics {
            result.echoReturnLoss = Int(found.echo_return_loss)
            result.echoReturnLossEnhancement = Int(found.echo_return_loss_enhancement)
        }
        if found.has_delay { result.delayMilliseconds = Int(found.delay) }
        return result
    }
}
