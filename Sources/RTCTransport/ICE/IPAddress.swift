import Glibc

/// Tells IP addresses from other text.
enum IPAddress {
    static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }

    /// Whether packets can be sent to the address: not the unspecified one, not multicast, not broadcast.
    static func isUnicast(_ text: String) -> Bool {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            let value = UInt32(bigEndian: v4.s_addr)
            return value != 0 && value >> 28 < 0xe
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return false }
        return withUnsafeBytes(of: &v6) { bytes in bytes[0] != 0xff && bytes.contains { $0 != 0 } }
    }
}
