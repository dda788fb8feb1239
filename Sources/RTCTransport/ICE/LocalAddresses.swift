import Glibc

/// The addresses of this machine that candidates are gathered on.
enum LocalAddresses {
    /// libnice pairs every local address with every remote one; more than these add delay and no connectivity.
    static let limit = 12

    /// Numeric addresses of the interfaces that are up: IPv4 and IPv6 without link-local ones, loopback last.
    static func gather(loopbackOnly: Bool, includeLoopback: Bool) -> [String] {
        if loopbackOnly { return ["127.0.0.1"] }
        var addresses: [String] = []
        var list: UnsafeMutablePointer<ifaddrs>?
        if getifaddrs(&list) == 0 {
            defer { freeifaddrs(list) }
            var next = list
            while let entry = next, addresses.count < limit - 1 {
                next = entry.pointee.ifa_next
                let flags = entry.pointee.ifa_flags
                guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0,
                    let address = entry.pointee.ifa_addr, let text = usable(address), !addresses.contains(text)
                else { continue }
                addresses.append(text)
            }
        }
        if includeLoopback || addresses.isEmpty { addresses.append("127.0.0.1") }
        return addresses
    }

    /// The text of an address that a peer elsewhere may reach; nil for the others.
    private static func usable(_ address: UnsafeMutablePointer<sockaddr>) -> String? {
        let family = Int32(address.pointee.sa_family)
        var length: Int
        if family == AF_INET {
            length = MemoryLayout<sockaddr_in>.size
        } else if family == AF_INET6 {
            length = MemoryLayout<sockaddr_in6>.size
            // Link-local addresses need a zone, which candidates cannot carry.
            let isLinkLocal = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { v6 in
                withUnsafeBytes(of: v6.pointee.sin6_addr) { $0[0] == 0xfe && $0[1] & 0xc0 == 0x80 }
            }
            if isLinkLocal { return nil }
        } else {
            return nil
        }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
