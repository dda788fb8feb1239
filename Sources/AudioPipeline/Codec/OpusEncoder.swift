import COpus

/// Encodes 48 kHz PCM as Opus, one frame at a time.
public final class OpusEncoder {
    /// How long one encoded frame is.
    public enum FrameDuration: Int, Sendable, CaseIterable {
        case ms10 = 10
        case ms20 = 20
        case ms40 = 40
        case ms60 = 60

        /// Samples per channel at 48 kHz.
        public var frames: Int { rawValue * 48 }
        public var duration: Duration { .milliseconds(rawValue) }
    }

    public enum Application: Sendable {
        /// Speech; keeps it intelligible at low rates.
        case voice
        /// Anything; keeps closest to the original.
        case audio
    }

    public struct Options: Sendable, Equatable {
        /// Bits a second, 6,000 to 510,000.
        public var bitrate = 32_000
        /// 0 (least CPU) to 10 (best).
        public var complexity = 9
        public var frameDuration = FrameDuration.ms20
        /// In-band forward error correction: each frame also carries a coarse copy of the one before, as far as
        /// `expectedPacketLoss` makes it worth while.
        public var fec = true
        /// Percent, 0 to 100.
        public var expectedPacketLoss = 10
        /// Discontinuous transmission: `encode` returns packets of at most two bytes during silence; see
        /// `lastFrameIsSilence`.
        public var dtx = false
        /// 1 or 2.
        public var channels = 1
        public var application = Application.voice

        public init() {}
    }

    /// A packet is never larger than this many bytes, so that it fits in one datagram with its headers.
    public static let maximumPacketSize = 1_200

    public let options: Options
    /// Samples by which the decoded signal lags behind what went in (312 at 48 kHz, or 192 without look-ahead).
    public let lookahead: Int
    /// The last packet came out of a silence with DTX on and need not be sent.
    public private(set) var lastFrameIsSilence = false

    private let encoder: OpaquePointer
    private var expectedPacketLoss: Int

    /// - Throws: `OpusError` for options outside their range, or without memory.
    public init(_ options: Options = Options()) throws(OpusError) {
        var status: Int32 = 0
        let application = options.application == .voice ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_AUDIO
        guard
            let encoder = opus_encoder_create(
                Int32(AudioFormat.sampleRate), Int32(clamping: options.channels), application, &status)
        else { throw OpusError(code: status, operation: "create an encoder") }
        self.encoder = encoder
        self.options = options
        expectedPacketLoss = options.expectedPacketLoss
        let settings: [(Int32, Int, String)] = [
            (OPUS_SET_BITRATE_REQUEST, options.bitrate, "set a bitrate of \(options.bitrate) bit/s"),
            (OPUS_SET_COMPLEXITY_REQUEST, options.complexity, "set a complexity of \(options.complexity)"),
            (OPUS_SET_INBAND_FEC_REQUEST, options.fec ? 1 : 0, "switch FEC"),
            (OPUS_SET_PACKET_LOSS_PERC_REQUEST, options.expectedPacketLoss, "set the expected packet loss"),
            (OPUS_SET_DTX_REQUEST, options.dtx ? 1 : 0, "switch DTX"),
            (OPUS_SET_LSB_DEPTH_REQUEST, 16, "set the sample depth"),
        ]
        var failure: OpusError?
        for (request, value, operation) in settings {
            let code = opus_encoder_set(encoder, request, Int32(clamping: value))
            if code != OPUS_OK && failure == nil { failure = OpusError(code: code, operation: operation) }
        }
        var lookahead: Int32 = 0
        opus_encoder_get(encoder, OPUS_GET_LOOKAHEAD_REQUEST, &lookahead)
        self.lookahead = Int(lookahead)
        if let failure { throw failure }
    }

    deinit {
        opus_encoder_destroy(encoder)
    }

    /// Tells the encoder how much the receiver loses (percent), so that FEC is as strong as it needs to be.
    public func setExpectedPacketLoss(_ percent: Int) {
        let bounded = min(max(percent, 0), 100)
        guard bounded != expectedPacketLoss else { return }
        expectedPacketLoss = bounded
        _ = opus_encoder_set(encoder, OPUS_SET_PACKET_LOSS_PERC_REQUEST, Int32(bounded))
    }

    /// Encodes one frame of exactly `options.frameDuration` (interleaved where there are two channels).
    ///
    /// - Throws: `OpusError` for another number of samples.
    public func encode(_ pcm: [Int16]) throws(OpusError) -> [UInt8] {
        let result = pcm.withUnsafeBufferPointer { encodeFrame($0) }
        return try result.get()
    }

    /// As `encode(_:)` for an array.
    public func encode(_ pcm: UnsafeBufferPointer<Int16>) throws(OpusError) -> [UInt8] {
        try encodeFrame(pcm).get()
    }

    private func encodeFrame(_ pcm: UnsafeBufferPointer<Int16>) -> Result<[UInt8], OpusError> {
        let frames = options.frameDuration.frames
        guard pcm.count == frames * options.channels, let samples = pcm.baseAddress else {
            return .failure(OpusError(code: OPUS_BAD_ARG, operation: "encode a frame of \(pcm.count) samples"))
        }
        var code: Int32 = 0
        let packet = [UInt8](unsafeUninitializedCapacity: Self.maximumPacketSize) { buffer, count in
            guard let base = buffer.baseAddress else { return }
            code = opus_encode(encoder, samples, Int32(frames), base, Int32(buffer.count))
            count = Int(max(0, code))
        }
        guard code >= 0 else { return .failure(OpusError(code: code, operation: "encode a frame")) }
        lastFrameIsSilence = options.dtx && packet.count <= 2
        return .success(packet)
    }
}
