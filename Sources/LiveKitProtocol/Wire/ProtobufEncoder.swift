/// Writes the protobuf wire format.
public struct ProtobufEncoder {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(128) }

    mutating func tag(_ number: Int, _ type: ProtobufDecoder.WireType) {
        varint(UInt64(number) << 3 | UInt64(type.rawValue))
    }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func fixed32(_ value: UInt32) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func fixed64(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func delimited(_ content: [UInt8]) {
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func delimited(_ content: String) {
        var content = content
        content.withUTF8 { utf8 in
            varint(UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    /// Writes what `body` writes, with its length before it. One byte is kept for the length, which is enough for
    /// most messages; longer ones move up once they are written.
    mutating func delimited(_ body: (inout ProtobufEncoder) -> Void) {
        let start = bytes.count
        bytes.append(0)
        body(&self)
        let length = bytes.count - start - 1
        guard length >= 0x80 else {
            bytes[start] = UInt8(length)
            return
        }
        var prefix = ProtobufEncoder()
        prefix.varint(UInt64(length))
        bytes.replaceSubrange(start...start, with: prefix.bytes)
    }
}
