/// Extends 16-bit sequence numbers to 64 bits and tells which of the last 128 have been seen (RFC 3550 appendix A.1
/// in outline).
struct SequenceWindow: Sendable {
    private var newest: Int64?
    /// Bit `n` is the number `newest - n`.
    private var seen: (UInt64, UInt64) = (0, 0)

    /// Notes `number`. Returns it extended, or nil where it was seen before.
    mutating func insert(_ number: UInt16) -> Int64? {
        guard let newest else {
            let first = 1 << 16 | Int64(number)
            self.newest = first
            seen = (1, 0)
            return first
        }
        let step = Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: newest)))
        let extended = newest + step
        if step > 0 {
            shift(by: step)
            self.newest = extended
            seen.0 |= 1
            return extended
        }
        let age = -step
        guard age < 128 else { return extended }
        let bit: UInt64 = 1 << UInt64(age & 63)
        if age < 64 {
            guard seen.0 & bit == 0 else { return nil }
            seen.0 |= bit
        } else {
            guard seen.1 & bit == 0 else { return nil }
            seen.1 |= bit
        }
        return extended
    }

    private mutating func shift(by count: Int64) {
        switch count {
        case 128...: seen = (0, 0)
        case 64..<128: seen = (0, seen.0 << UInt64(count - 64))
        default: seen = (seen.0 << UInt64(count), seen.1 << UInt64(count) | seen.0 >> UInt64(64 - count))
        }
    }
}
