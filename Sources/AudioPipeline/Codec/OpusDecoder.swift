import COpus

/// Decodes Opus to 48 kHz PCM. Keeps the state from packet to packet, so everything is decoded in order: packets,
/// concealment of lost ones, and what FEC brings back.
public final class OpusDecoder {
    /// The longest packet: 120 ms (RFC 6716 section 2.1.4).
    public static let maximumFrames = 5_760

    public let channels: Int
    private let decoder: OpaquePointer

    /// - Parameter channels: 1 or 2. A stereo stream is mixed down for one.
    /// - Throws: `OpusError` for another number, or without memory.
    public init(channels: Int = 1) throws(OpusError) {
        var status: Int32 = 0
        guard
            let decoder = opus_decoder_create(Int32(AudioFormat.sampleRate), Int32(clamping: channels), &status)
        else { throw OpusError(code: status, operation: "create a decoder") }
        self.channels = channels
        self.decoder = decoder
    }

    deinit {
        opus_decoder_destroy(decoder)
    }

    /// Decodes one packet, of any duration.
    ///
    /// - Throws: `OpusError` where it is not an Opus packet; the decoder can go on with the next.
    public func decode(_ payload: [UInt8]) throws(OpusError) -> [Int16] {
        guard !payload.isEmpty else { throw OpusError(code: OPUS_INVALID_PACKET, operation: "decode an empty packet") }
        return try run(payload, frames: Self.maximumFrames, fec: false, operation: "decode a packet").get()
    }

    /// Reconstructs the `frames` samples before the packet `next`, which were lost, from the copy in `next` where
    /// it holds one (`OpusPacket.hasFEC`); otherwise as `conceal` would. `next` itself is to be decoded after that.
    ///
    /// - Parameter frames: a multiple of 120 (2.5 ms), at most 5,760.
    public func decodeFEC(_ next: [UInt8], frames: Int) throws(OpusError) -> [Int16] {
        guard !next.isEmpty else { return try conceal(frames: frames) }
        return try run(next, frames: frames, fec: true, operation: "recover a frame").get()
    }

    /// Fills in for `frames` lost samples.
    ///
    /// - Parameter frames: a multiple of 120 (2.5 ms), at most 5,760.
    public func conceal(frames: Int) throws(OpusError) -> [Int16] {
        try run([], frames: frames, fec: false, operation: "conceal a lost frame").get()
    }

    /// Forgets everything, for a new stream.
    public func reset() {
        opus_decoder_reset(decoder)
    }

    private func run(_ payload: [UInt8], frames: Int, fec: Bool, operation: String) -> Result<[Int16], OpusError> {
        guard (1...Self.maximumFrames).contains(frames), let length = Int32(exactly: payload.count) else {
            return .failure(OpusError(code: OPUS_BAD_ARG, operation: operation))
        }
        var code: Int32 = 0
        let pcm = [Int16](unsafeUninitializedCapacity: frames * channels) { buffer, count in
            guard let output = buffer.baseAddress else { return }
            code = payload.withUnsafeBufferPointer { bytes in
                opus_decode(decoder, length == 0 ? nil : bytes.baseAddress, length, output, Int32(frames), fec ? 1 : 0)
            }
            count = Int(max(0, code)) * channels
        }
        guard code >= 0 else { return .failure(OpusError(code: code, operation: operation)) }
        return .success(pcm)
    }
}
