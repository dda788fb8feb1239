/// Reads the protobuf wire format from a buffer, which must outlive the decoder.
///
/// Bounded in every direction: it never reads past its end, and size, nesting and the number of elements are limited,
/// so that a hostile message costs at most a small multiple of its own size.
public struct ProtobufDecoder {
    /// Levels of nested messages and groups. The protocol itself nests fewer than ten.
    public static let maximumDepth = 64
    /// Bytes of one message. LiveKit servers cap signal messages at 2 MiB.
    public static let maximumSize = 4 << 20
    /// Strings, byte strings, messages and map entries in all the repeated fields of one message together: an empty
    /// element takes two bytes on the wire and some hundred in memory.
    public static let maximumElements = 1 << 16

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
    private var position = 0
    private var end: Int
    private var depth = 0
    private var elements = 0

    init(_ bytes: UnsafeRawBufferPointer) throws(ProtobufError) {
        guard bytes.count <= Self.maximumSize else { throw .tooLarge(bytes.count) }
        self.bytes = bytes
        end = bytes.count
    }

    /// Whether the message, or the nested message being read, has been read to its end.
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

    /// The content of the next length-delimited field.
    mutating func delimited() throws(ProtobufError) -> UnsafeRawBufferPointer {
        let length = try varint()
        guard length <= UInt64(end - position) else { throw .truncated }
        defer { position += Int(length) }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + Int(length)])
    }

    /// A string. One that is not UTF-8 makes the whole message undecodable, as proto3 has it: nothing is repaired,
    /// so that no two clients see different identities or keys.
    mutating func string() throws(ProtobufError) -> String {
        guard let text = String(validating: try delimited(), as: UTF8.self) else { throw .invalidUTF8 }
        return text
    }

    /// Reads the content of the next length-delimited field as a message of its own; `body` must read all of it.
    mutating func nested(
        _ body: (inout ProtobufDecoder) throws(ProtobufError) -> Void
    ) throws(ProtobufError) {
        let length = try varint()
        guard length <= UInt64(end - position) else { throw .truncated }
        guard depth < Self.maximumDepth else { throw .tooDeep }
        let outerEnd = end
        end = position + Int(length)
        depth += 1
        try body(&self)
        depth -= 1
        position = end
        end = outerEnd
    }

    /// Counts one more element of a repeated field or map against ``maximumElements``.
    mutating func countElement() throws(ProtobufError) {
        elements += 1
        guard elements <= Self.maximumElements else { throw .tooManyElements }
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
