/// The frames of RFC 6455, section 5.
enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue & 0x8 != 0 }
}

enum WebSocketFrame {
    /// The largest payload of a control frame, in bytes.
    static let maxControlPayload = 125

    /// One whole, final frame.
    /// - Parameter mask: the masking key of a client's frame; a server's frames are not masked.
    static func encode(_ opcode: WebSocketOpcode, _ payload: some Collection<UInt8>, mask: UInt32?) -> [UInt8] {
        let count = payload.count
        var frame: [UInt8] = []
        frame.reserveCapacity(count + 14)
        frame.append(0x80 | opcode.rawValue)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        if count <= 125 {
            frame.append(maskBit | UInt8(count))
        } else if count <= 0xFFFF {
            frame.append(maskBit | 126)
            frame.append(UInt8(count >> 8))
            frame.append(UInt8(count & 0xFF))
        } else {
            frame.append(maskBit | 127)
            for shift in stride(from: 56, through: 0, by: -8) { frame.append(UInt8(count >> shift & 0xFF)) }
        }
        guard let mask else {
            frame.append(contentsOf: payload)
            return frame
        }
        for shift in stride(from: 24, through: 0, by: -8) { frame.append(UInt8(mask >> UInt32(shift) & 0xFF)) }
        let start = frame.count
        frame.append(contentsOf: payload)
        unmask(&frame, from: start, key: mask)
        return frame
    }

    /// The payload of a close frame; the reason is cut to what fits, not inside a character.
    static func closePayload(code: Int, reason: String) -> [UInt8] {
        guard isValidCloseCode(code) else { return [] }
        var payload: [UInt8] = [UInt8(code >> 8), UInt8(code & 0xFF)]
        for scalar in reason.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            guard payload.count + bytes.count <= maxControlPayload else { break }
            payload += bytes
        }
        return payload
    }

    /// The codes that may stand in a close frame (RFC 6455, section 7.4).
    static func isValidCloseCode(_ code: Int) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Applies a masking key, which is its own inverse, eight bytes at a time.
    static func unmask(_ bytes: inout [UInt8], from start: Int, key: UInt32) {
        // The key's bytes in memory order, twice.
        let wide = UInt64(key.bigEndian) << 32 | UInt64(key.bigEndian)
        bytes.withUnsafeMutableBytes { buffer in
            var index = start
            while index &+ 8 <= buffer.count {
                let word = buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                buffer.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
                index &+= 8
            }
            while index < buffer.count {
                buffer[index] ^= UInt8(truncatingIfNeeded: key >> (24 - 8 * UInt32((index &- start) & 3)))
                index &+= 1
            }
        }
    }
}
