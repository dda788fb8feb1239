/// Reads the head of a WAV file that comes through a pipe: as far as the first sample, without seeking. Sizes are not
/// trusted, since programs that write into a pipe cannot know them.
struct WAVStreamHeader {
    enum Result: Equatable {
        /// More bytes are needed.
        case incomplete
        /// The samples begin at `offset`.
        case complete(RawAudioFormat, offset: Int)
        case invalid(String)
    }

    /// A head longer than this is none.
    private static let maximumLength = 1 << 20

    static func parse(_ bytes: [UInt8]) -> Result {
        guard bytes.count >= 12 else { return .incomplete }
        guard tag(bytes, 8) == "WAVE" else { return .invalid("the stream starts like RIFF and is not WAVE") }
        var offset = 12
        var format: RawAudioFormat?
        while true {
            guard offset + 8 <= bytes.count else {
                return offset > maximumLength ? .invalid("its header has no end") : .incomplete
            }
            let size = Int(number(bytes, offset + 4, 4))
            switch tag(bytes, offset) {
            case "data":
                guard let format else { return .invalid("its samples come before their format") }
                return .complete(format, offset: offset + 8)
            case "fmt ":
                guard offset + 8 + size <= bytes.count else {
                    return size > maximumLength ? .invalid("its format chunk is too long") : .incomplete
                }
                switch readFormat(Array(bytes[(offset + 8)..<(offset + 8 + size)])) {
                case .success(let found): format = found
                case .failure(let reason): return .invalid(reason.text)
                }
            default: break
            }
            guard size <= maximumLength else { return .invalid("its header has no end") }
            offset += 8 + size + size % 2
        }
    }

    private struct Reason: Error {
        var text: String
    }

    private static func readFormat(_ chunk: [UInt8]) -> Swift.Result<RawAudioFormat, Reason> {
        guard chunk.count >= 16 else { return .failure(Reason(text: "its format chunk is too short")) }
        var code = number(chunk, 0, 2)
        // WAVE_FORMAT_EXTENSIBLE: the code is the start of the GUID.
        if code == 0xFFFE, chunk.count >= 26 { code = number(chunk, 24, 2) }
        let bits = number(chunk, 14, 2)
        let format: PCMFormat
        switch (code, bits) {
        case (1, 16): format = .s16
        case (1, 24): format = .s24Packed
        case (1, 32): format = .s32
        case (3, 32): format = .float
        default:
            return .failure(Reason(text: "its encoding (code \(code), \(bits) bits) is none of 16, 24, 32 and float"))
        }
        let rate = Int(number(chunk, 4, 4))
        let channels = Int(number(chunk, 2, 2))
        guard (4_000...384_000).contains(rate), (1...32).contains(channels) else {
            return .failure(Reason(text: "\(rate) Hz with \(channels) channels is out of range"))
        }
        return .success(RawAudioFormat(format: format, rate: rate, channels: channels))
    }

    private static func tag(_ bytes: [UInt8], _ offset: Int) -> String {
        String(decoding: bytes[offset..<(offset + 4)], as: UTF8.self)
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt32 {
        (0..<count).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    }
}
