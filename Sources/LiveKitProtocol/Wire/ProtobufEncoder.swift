/// Writes the protobuf wire format.
public struct ProtobufEncoder {
    private(set) var bytes: [UInt8] = []

    init() {}

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

    mutating func delimited(_ content: some Collection<UInt8>) {
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }
}
