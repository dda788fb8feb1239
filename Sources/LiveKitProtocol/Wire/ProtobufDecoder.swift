/// Reads the protobuf wire format from a buffer. Bounded: it never reads past its end, nests at most
/// ``maximumDepth`` messages, and allocates no more than the bytes at hand can hold.
public struct ProtobufDecoder {
    /// Levels of nested messages (as in Google's implementations).
    public static let maximumDepth = 100
    /// Bytes of one message. LiveKit servers cap signal messages at 2 MiB.
    public static let maximumSize = 16 << 20

    /// How a field is written (protobuf encoding, "message structure").
    enum WireType: UInt8 {
        case varint = 0
        case fixed64 = 1
        case lengthDelimited = 2
        case startGroup = 3
        case endGroup = 4
        case fixed32 = 5
    }

    private let bytes: UnsafeRawBufferPointer
    private var position: Int
    private let end: Int
    private let depth: Int

    init(_ bytes: UnsafeRawBufferPointer) throws(ProtobufError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge(bytes.count) }
        self.bytes = bytes
        position = 0
        end = bytes.count
        depth = 0
    }

    private init(_ bytes: UnsafeRawBufferPointer, range: Range<Int>, depth: Int) throws(ProtobufError) {
        guard depth <= Self.maximumDepth else { throw .tooDeep }
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
        self.depth = depth
    }

    var isAtEnd: Bool { position >= end }

    mutating func tag() throws(ProtobufError) -> (number: Int, type: WireType) {
        let value = try varint()
        guard value <= UInt64(UInt32.max), value >> 3 != 0, let type = WireType(rawValue: UInt8(value & 7)) else {
            throw .malformedTag
        }
        return (Int(value >> 3), type)
    }

    mutating func varint() throws(ProtobufError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while shift < 70 {
            guard position < end else { throw .truncated }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
        throw .malformedVarint
    }

    mutating func fixed32() throws(ProtobufError) -> UInt32 {
        guard end - position >= 4 else { throw .truncated }
        defer { position += 4 }
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
    }

    mutating func fixed64() throws(ProtobufError) -> UInt64 {
        guard end - position >= 8 else { throw .truncated }
        defer { position += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// The range of the next length-delimited field's content.
    private mutating func delimited() throws(ProtobufError) -> Range<Int> {
        let length = try varint()
        guard length <= UInt64(end - position) else { throw .truncated }
        defer { position += Int(length) }
        return position..<position + Int(length)
    }

    mutating func data() throws(ProtobufError) -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(rebasing: bytes[try delimited()]))
    }

    mutating func string() throws(ProtobufError) -> String {
        let content = UnsafeRawBufferPointer(rebasing: bytes[try delimited()])
        guard let text = String(validating: content, as: UTF8.self) else { throw .invalidUTF8 }
        return text
    }

    /// A decoder for the content of the next length-delimited field.
    mutating func nested() throws(ProtobufError) -> ProtobufDecoder {
        try ProtobufDecoder(bytes, range: try delimited(), depth: depth + 1)
    }

    /// Steps over the value of a field that is not declared. Groups are stepped over as a whole.
    mutating func skip(_ type: WireType, number: Int) throws(ProtobufError) {
        switch type {
        case .varint: _ = try varint()
        case .fixed64: _ = try fixed64()
        case .fixed32: _ = try fixed32()
        case .lengthDelimited: _ = try delimited()
        case .endGroup: throw .malformedTag
        case .startGroup:
            var open = [number]
            while let innermost = open.last {
                let (inner, innerType) = try tag()
                switch innerType {
                case .startGroup:
                    guard depth + open.count < Self.maximumDepth else { throw .tooDeep }
                    open.append(inner)
                case .endGroup:
                    guard inner == innermost else { throw .malformedTag }
                    open.removeLast()
                default: try skip(innerType, number: inner)
                }
            }
        }
    }
}
