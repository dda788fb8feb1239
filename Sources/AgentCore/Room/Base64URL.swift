/// Base64 with the URL-safe alphabet (RFC 4648 section 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8], padded: Bool) -> String {
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var value: UInt32 = 0
            for index in 0..<3 { value = value << 8 | (index < group.count ? UInt32(group[start + index]) : 0) }
            for index in 0..<4 where index <= group.count {
                result.append(alphabet[Int(value >> UInt32(18 - 6 * index) & 63)])
            }
            if padded { result.append(contentsOf: repeatElement(0x3d, count: 3 - group.count)) }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
