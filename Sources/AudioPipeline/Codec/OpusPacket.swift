/// The outline of an Opus packet as its first bytes tell it (RFC 6716 section 3).
public struct OpusPacket: Equatable, Sendable {
    /// Samples at 48 kHz in one frame: 120 to 2,880.
    public var framesPerOpusFrame: Int
    /// Opus frames in the packet: 1 to 48.
    public var opusFrames: Int
    /// Samples at 48 kHz in the packet, at most 5,760 (120 ms).
    public var frames: Int { framesPerOpusFrame * opusFrames }
    public var isStereo: Bool
    /// The packet also holds a coarse copy of the frame before it (in-band FEC, "LBRR").
    public var hasFEC: Bool
    /// A packet of at most two bytes: the encoder is silent (DTX).
    public var isDTX: Bool

    /// Reads the outline. nil where `payload` cannot be an Opus packet.
    public init?(_ payload: [UInt8]) {
        guard let toc = payload.first else { return nil }
        let configuration = Int(toc >> 3)
        isStereo = toc & 4 != 0
        isDTX = payload.count <= 2
        switch configuration {
        case 0..<12: framesPerOpusFrame = [480, 960, 1920, 2880][configuration & 3]
        case 12..<16: framesPerOpusFrame = configuration & 1 == 0 ? 480 : 960
        default: framesPerOpusFrame = [120, 240, 480, 960][configuration & 3]
        }
        switch toc & 3 {
        case 0: opusFrames = 1
        case 1:
            guard payload.count % 2 == 1 else { return nil }
            opusFrames = 2
        case 2: opusFrames = 2
        default:
            guard payload.count >= 2 else { return nil }
            opusFrames = Int(payload[1] & 0x3F)
            guard opusFrames > 0 else { return nil }
        }
        hasFEC = false
        guard frames <= 5760 else { return nil }
        // Only SILK and hybrid frames carry it. Their first byte begins with a voice flag for each 20 ms and then
        // the LBRR flag, for the mid channel first and then for the side (section 4.2.3).
        guard configuration < 16, let first = Self.firstFrameByte(payload) else { return }
        let parts = max(1, framesPerOpusFrame / 960)
        hasFEC = first >> (7 - parts) & 1 != 0
        if isStereo && !hasFEC { hasFEC = first >> (6 - 2 * parts) & 1 != 0 }
    }

    /// The first byte of the first frame; nil where that frame is empty (DTX).
    private static func firstFrameByte(_ payload: [UInt8]) -> UInt8? {
        var offset = 1
        func length(_ index: Int) -> (value: Int, bytes: Int)? {
            guard index < payload.count else { return nil }
            let first = Int(payload[index])
            guard first >= 252 else { return (first, 1) }
            guard index + 1 < payload.count else { return nil }
            return (first + 4 * Int(payload[index + 1]), 2)
        }
        switch payload[0] & 3 {
        case 2:
            guard let size = length(1), size.value > 0 else { return nil }
            offset += size.bytes
        case 3:
            offset = 2
            if payload[1] & 0x40 != 0 {  // padding: its length is in bytes of 255 and a last one below
                while offset < payload.count, payload[offset] == 255 { offset += 1 }
                offset += 1
            }
            if payload[1] & 0x80 != 0 {  // variable sizes: all but the last are listed
                let listed = Int(payload[1] & 0x3F) - 1
                for index in 0..<max(0, listed) {
                    guard let size = length(offset), index > 0 || size.value > 0 else { return nil }
                    offset += size.bytes
                }
            }
        default:
            break
        }
        return offset < payload.count ? payload[offset] : nil
    }
}
