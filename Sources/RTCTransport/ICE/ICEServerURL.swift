/// One server of an ``ICEServer``: a parsed `stun:`, `turn:` or `turns:` URL (RFC 7064, RFC 7065).
struct ICEServerURL: Sendable, Equatable {
    enum Scheme: Sendable, Equatable { case stun, turn }
    enum Transport: Sendable, Equatable { case udp, tcp, tls }

    var scheme: Scheme
    /// A host name or an IP address, IPv6 without brackets.
    var host: String
    var port: UInt16
    /// How the server is reached; what it relays is always UDP.
    var transport: Transport

    /// Nil when the text is none of these URLs. `stuns:` is refused: candidates cannot be learned over TLS.
    init?(_ text: String) {
        guard text.utf8.count <= 512, let colon = text.firstIndex(of: ":") else { return nil }
        var rest = text[text.index(after: colon)...]
        var isSecure = false
        switch text[..<colon].lowercased() {
        case "stun": scheme = .stun
        case "turn": scheme = .turn
        case "turns":
            scheme = .turn
            isSecure = true
        default: return nil
        }
        // Some servers write `turn://host`.
        if rest.hasPrefix("//") { rest = rest.dropFirst(2) }
        transport = isSecure ? .tls : .udp
        if let question = rest.firstIndex(of: "?") {
            for item in rest[rest.index(after: question)...].split(separator: "&") {
                switch item.lowercased() {
                case "transport=udp" where isSecure: return nil  // DTLS to the server is not spoken here
                case "transport=udp": transport = .udp
                case "transport=tcp": transport = isSecure ? .tls : .tcp
                case let other where other.hasPrefix("transport="): return nil
                default: break
                }
            }
            rest = rest[..<question]
        }
        // TURN user names do not belong in the URL (RFC 7065, section 3.1), but old configurations have them.
        if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        var portText: Substring?
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            let after = rest[rest.index(after: end)...]
            guard after.isEmpty || after.hasPrefix(":") else { return nil }
            guard IPAddress.isIPv6(host) else { return nil }
            portText = after.isEmpty ? nil : after.dropFirst()
        } else if let colon = rest.lastIndex(of: ":") {
            host = String(rest[..<colon])
            guard !host.contains(":") else { return nil }
            portText = rest[rest.index(after: colon)...]
        } else {
            host = String(rest)
        }
        guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x2f })
        else { return nil }
        if let portText {
            guard let number = UInt16(portText), number > 0 else { return nil }
            port = number
        } else {
            port = isSecure ? 5349 : 3478
        }
    }
}
