/// PCM without a header, as pipes carry it: little-endian, interleaved.
public struct RawAudioFormat: Sendable, Equatable {
    public var format: PCMFormat
    /// Hz.
    public var rate: Int
    public var channels: Int

    /// 48 kHz mono 16-bit unless said otherwise.
    public init(format: PCMFormat = .s16, rate: Int = AudioFormat.sampleRate, channels: Int = 1) {
        self.format = format
        self.rate = rate
        self.channels = channels
    }

    /// Reads `FORMAT[:RATE[:CHANNELS]]` with FORMAT one of s16, s24, s32 and f32, such as `s16:16000:1`.
    /// - Returns: nil for anything else; rates are 4 to 384 kHz, channels 1 to 32.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let formats: [Substring: PCMFormat] = [
            "s16": .s16, "s16le": .s16, "s24": .s24Packed, "s24le": .s24Packed, "s32": .s32, "s32le": .s32,
            "f32": .float, "f32le": .float,
        ]
        guard (1...3).contains(parts.count), let format = formats[parts[0]] else { return nil }
        self.init(format: format)
        if parts.count > 1 {
            guard let rate = Int(parts[1]), (4_000...384_000).contains(rate) else { return nil }
            self.rate = rate
        }
        if parts.count > 2 {
            guard let channels = Int(parts[2]), (1...32).contains(channels) else { return nil }
            self.channels = channels
        }
    }

    /// Bytes of one sample of every channel.
    public var frameWidth: Int { format.width * channels }
}
