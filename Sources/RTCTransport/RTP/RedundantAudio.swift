/// Redundant audio data, RED (RFC 2198): each packet carries earlier frames again before its own.
public struct RedundantAudio: Sendable, Equatable {
    /// An earlier frame inside a packet.
    public struct Block: Sendable, Equatable {
        /// 7 bits.
        public var payloadType: UInt8
        /// How much earlier than the packet's timestamp, 14 bits, in the payload's clock.
        public var timestampOffset: UInt16
        /// At most 1,023 bytes.
        public var payload: [UInt8]
    }

    /// The redundant blocks, oldest first.
    public var blocks: [Block] = []
    public var payloadType: UInt8
    public var payload: [UInt8]

    public static let maximumOffset: UInt32 = (1 << 14) - 1
    public static let maximumBlockLength = (1 << 10) - 1
    /// Blocks in one packet that are still read; real senders use one or two.
    public static let maximumBlocks = 16

    public init(payloadType: UInt8, payload: [UInt8]) {
        self.payloadType = payloadType
        self.payload = payload
    }

    /// Parses the payload of a RED packet.
    /// - Throws: ``RTPError/malformed``.
    public init(parsing bytes: [UInt8]) throws(RTPError) {
        var headers: [(type: UInt8, offset: UInt16, length: Int)] = []
        var position = 0
        while true {
            guard position < bytes.count else { throw .malformed }
            let type = bytes[position] & 0x7f
            guard bytes[position] & 0x80 != 0 else {
                position += 1
                payloadType = type
                break
            }
            guard position + 4 <= bytes.count, headers.count < Self.maximumBlocks else { throw .malformed }
            let fields = bytes.uint24(at: position + 1)
            headers.append((type, UInt16(fields >> 10), Int(fields & 0x3ff)))
            position += 4
        }
        for header in headers {
            guard position + header.length <= bytes.count else { throw .malformed }
            blocks.append(
                Block(
                    payloadType: header.type, timestampOffset: header.offset,
                    payload: Array(bytes[position..<position + header.length])))
            position += header.length
        }
        payload = Array(bytes[position...])
    }

    public func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        for block in blocks {
            bytes.append(0x80 | block.payloadType & 0x7f)
            let fields = UInt32(block.timestampOffset & 0x3fff) << 10 | UInt32(block.payload.count & 0x3ff)
            bytes.append(UInt8(fields >> 16))
            bytes.append(bigEndian: UInt16(truncatingIfNeeded: fields))
        }
        bytes.append(payloadType & 0x7f)
        for block in blocks { bytes.append(contentsOf: block.payload) }
        bytes.append(contentsOf: payload)
        return bytes
    }
}

/// Builds RED packets from a stream of frames: each carries up to two earlier ones where the header can express it.
struct RedundancyEncoder: Sendable {
    private var history: [(timestamp: UInt32, payload: [UInt8])] = []
    private let distance = 2

    mutating func encode(_ payload: [UInt8], timestamp: UInt32, payloadType: UInt8) -> [UInt8] {
        var red = RedundantAudio(payloadType: payloadType, payload: payload)
        for (earlier, block) in history {
            let offset = timestamp &- earlier
            guard offset > 0, offset <= RedundantAudio.maximumOffset, block.count <= RedundantAudio.maximumBlockLength,
                !block.isEmpty
            else { continue }
            red.blocks.append(
                RedundantAudio.Block(payloadType: payloadType, timestampOffset: UInt16(offset), payload: block))
        }
        history.append((timestamp, payload))
        if history.count > distance { history.removeFirst() }
        return red.serialized()
    }
}
