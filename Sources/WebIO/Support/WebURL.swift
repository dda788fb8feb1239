import CGLib

/// An `http`, `https`, `ws` or `wss` URL, taken apart.
struct WebURL: Sendable, Equatable {
    /// Whether TLS is spoken (`https`, `wss`).
    var isSecure: Bool
    /// A name or address; an IPv6 address stands without brackets.
    var host: String
    var port: UInt16
    /// Path and query as they go into the request line, percent-encoded.
    var target: String

    /// - Throws: ``WebError/invalidURL(_:)``.
    init(_ text: String) throws(WebError) {
        let shown = Self.redacted(text)
        guard !text.isEmpty else { throw .invalidURL("the URL is empty") }
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw .invalidURL("the URL \"\(shown)\" holds a space or a control character")
        }
        var error: UnsafeMutablePointer<GError>?
        let flags = GUriFlags(
            rawValue: G_URI_FLAGS_HAS_PASSWORD.rawValue | G_URI_FLAGS_ENCODED_PATH.rawValue
                | G_URI_FLAGS_ENCODED_QUERY.rawValue | G_URI_FLAGS_SCHEME_NORMALIZE.rawValue)
        guard let uri = g_uri_parse(text, flags, &error) else {
            throw .invalidURL("\"\(shown)\" is not a URL (\(takeMessage(error)))")
        }
        defer { g_uri_unref(uri) }
        let scheme = g_uri_get_scheme(uri).map { String(cString: $0) } ?? ""
        switch scheme {
        case "http", "ws": isSecure = false
        case "https", "wss": isSecure = true
        default: throw .invalidURL("\"\(shown)\" does not start with ws://, wss://, http:// or https://")
        }
        guard let name = g_uri_get_host(uri).map({ String(cString: $0) }), !name.isEmpty else {
            throw .invalidURL("\"\(shown)\" names no host")
        }
        guard g_uri_get_userinfo(uri) == nil else {
            throw .invalidURL("\"\(shown)\" holds a user name or password, which is not supported: remove it")
        }
        host = name
        let given = g_uri_get_port(uri)
        guard given != 0, let number = given < 0 ? (isSecure ? 443 : 80) : UInt16(exactly: given) else {
            throw .invalidURL("\"\(shown)\" has a port that is not valid")
        }
        port = number
        let path = g_uri_get_path(uri).map { String(cString: $0) } ?? ""
        let query = g_uri_get_query(uri).map { "?" + String(cString: $0) } ?? ""
        target = (path.isEmpty ? "/" : path) + query
    }

    /// The value of the `Host` header.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// `http(s)://host:port`, with the port always given.
    var origin: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name):\(port)"
    }

    /// The URL with the scheme `http` or `https`.
    var httpURL: String { origin + target }

    /// Whether the host is this machine: no proxy is asked for it.
    var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
            || host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
    }

    /// `text` without query, fragment and user information, for messages.
    static func redacted(_ text: String) -> String {
        var shown = String(text.prefix { $0 != "?" && $0 != "#" })
        if let start = shown.range(of: "://")?.upperBound {
            let authority = shown[start...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") { shown.removeSubrange(start...at) }
        }
        return printable(shown)
    }
}

extension String {
    fileprivate func range(of needle: String) -> Range<String.Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(needle) {
                return index..<self.index(index, offsetBy: needle.count)
            }
            index = self.index(after: index)
        }
        return nil
    }
}
