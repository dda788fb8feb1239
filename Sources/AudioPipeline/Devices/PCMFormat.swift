import CALSA

/// The sample formats of devices that are understood, best first.
public enum PCMFormat: String, Sendable, CaseIterable {
    case s16 = "S16_LE"
    case s32 = "S32_LE"
    /// 24 bits in the low bytes of 32.
    case s24 = "S24_LE"
    /// 24 bits packed in three bytes.
    case s24Packed = "S24_3LE"
    case float = "FLOAT_LE"

    /// Bytes of one sample.
    public var width: Int {
        switch self {
        case .s16: 2
        case .s24Packed: 3
        case .s32, .s24, .float: 4
        }
    }

    var alsa: snd_pcm_format_t {
        switch self {
        case .s16: SND_PCM_FORMAT_S16_LE
        case .s32: SND_PCM_FORMAT_S32_LE
        case .s24: SND_PCM_FORMAT_S24_LE
        case .s24Packed: SND_PCM_FORMAT_S24_3LE
        case .float: SND_PCM_FORMAT_FLOAT_LE
        }
    }

    /// Mixes `frames` interleaved frames down to mono, averaging the channels. Neither allocates nor locks.
    func toMono(
        _ bytes: UnsafeRawPointer, channels: Int, frames: Int, into mono: UnsafeMutablePointer<Int16>
    ) {
        var offset = 0
        for frame in 0..<frames {
            var sum: Int64 = 0
            for _ in 0..<channels {
                sum += Int64(sample(bytes + offset))
                offset += width
            }
            // 32-bit samples to 16, rounded half up.
            mono[frame] = Int16(clamping: (sum / Int64(channels) + 0x8000) >> 16)
        }
    }

    /// Writes mono to the first two channels (or the only one) and silence to the others. Neither allocates nor locks.
    func fromMono(
        _ mono: UnsafePointer<Int16>, frames: Int, channels: Int, into bytes: UnsafeMutableRawPointer
    ) {
        var offset = 0
        for frame in 0..<frames {
            for channel in 0..<channels {
                store(channel < 2 ? mono[frame] : 0, at: bytes + offset)
                offset += width
            }
        }
    }

    /// The sample at `bytes`, scaled to 32 bits.
    @inline(__always)
    private func sample(_ bytes: UnsafeRawPointer) -> Int32 {
        switch self {
        case .s16: return Int32(Int16(littleEndian: bytes.loadUnaligned(as: Int16.self))) << 16
        case .s32: return Int32(littleEndian: bytes.loadUnaligned(as: Int32.self))
        case .s24: return Int32(littleEndian: bytes.loadUnaligned(as: Int32.self)) << 8
        case .s24Packed:
            let low = UInt32(bytes.load(fromByteOffset: 0, as: UInt8.self))
            let middle = UInt32(bytes.load(fromByteOffset: 1, as: UInt8.self))
            let high = UInt32(bytes.load(fromByteOffset: 2, as: UInt8.self))
            return Int32(bitPattern: low << 8 | middle << 16 | high << 24)
        case .float:
            let bits = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
            let value = Float(bitPattern: bits)
            guard value == value else { return 0 }
            return Int32(max(-2_147_483_648, min(2_147_483_520, value * 2_147_483_648)))
        }
    }

    @inline(__always)
    private func store(_ sample: Int16, at bytes: UnsafeMutableRawPointer) {
        switch self {
        case .s16: bytes.storeBytes(of: sample.littleEndian, as: Int16.self)
        case .s32: bytes.storeBytes(of: (Int32(sample) << 16).littleEndian, as: Int32.self)
        case .s24: bytes.storeBytes(of: (Int32(sample) << 8).littleEndian, as: Int32.self)
        case .s24Packed:
            let value = UInt16(bitPattern: sample)
            bytes.storeBytes(of: 0, toByteOffset: 0, as: UInt8.self)
            bytes.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: 1, as: UInt8.self)
            bytes.storeBytes(of: UInt8(truncatingIfNeeded: value >> 8), toByteOffset: 2, as: UInt8.self)
        case .float:
            bytes.storeBytes(of: (Float(sample) / 32_768).bitPattern.littleEndian, as: UInt32.self)
        }
    }
}
