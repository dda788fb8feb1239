/// Network byte order (big-endian) reading and writing. The caller has checked the bounds.
extension [UInt8] {
    func uint16(at index: Int) -> UInt16 {
        UInt16(self[index]) << 8 | UInt16(self[index + 1])
    }

    func uint24(at index: Int) -> UInt32 {
        UInt32(self[index]) << 16 | UInt32(uint16(at: index + 1))
    }

    func uint32(at index: Int) -> UInt32 {
        UInt32(uint16(at: index)) << 16 | UInt32(uint16(at: index + 2))
    }

    func uint64(at index: Int) -> UInt64 {
        UInt64(uint32(at: index)) << 32 | UInt64(uint32(at: index + 4))
    }

    mutating func append(bigEndian value: UInt16) {
        append(UInt8(value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func append(bigEndian value: UInt32) {
        append(bigEndian: UInt16(value >> 16))
        append(bigEndian: UInt16(truncatingIfNeeded: value))
    }

    mutating func append(bigEndian value: UInt64) {
        append(bigEndian: UInt32(value >> 32))
        append(bigEndian: UInt32(truncatingIfNeeded: value))
    }
}

/// Extends wrapping counters to 64 bits: the value nearest to the highest one seen (RFC 3550 appendix A.1).
struct SequenceExtender: Sendable {
    private(set) var highest: Int64?

    /// The extended number; it becomes the highest when it is newer.
    mutating func extend(_ value: UInt16) -> Int64 {
        let result = peek(value)
        highest = max(highest ?? result, result)
        return result
    }

    /// The extended number, with nothing remembered.
    func peek(_ value: UInt16) -> Int64 {
        guard let highest else { return Int64(value) }
        let difference = Int16(bitPattern: value &- UInt16(truncatingIfNeeded: highest))
        return highest + Int64(difference)
    }
}
