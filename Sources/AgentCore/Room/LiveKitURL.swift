/// The URL of a LiveKit server and the endpoints below it.
///
/// A path prefix and a query are kept; a trailing slash and a trailing `/rtc`, `/rtc/v1` or `/validate`, which people
/// paste, are dropped. The token is never part of a URL.
public struct LiveKitURL: Sendable, Equatable, CustomStringConvertible {
    /// How to join (signal protocol version).
    public enum SignalPath: String, Sendable, Equatable {
        /// One peer connection; the offer travels in the request.
        case v1 = "/rtc/v1"
        /// Two peer connections.
        case v0 = "/rtc"
    }

    private let isSecure: Bool
    private let authority: String
    private let path: String
    private let query: String

    /// - Parameter text: `ws`, `wss`, `http` or `https`, host, optional port, path and query.
    /// - Throws: ``DisconnectCause/invalidURL(_:)``.
    public init(_ text: String) throws(DisconnectCause) {
        // Around it white space is pasted by accident; inside, dropping it would name another server.
        let trimmed = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        guard !trimmed.contains(where: \.isWhitespace) else { throw .invalidURL(text) }
        guard let separator = trimmed.range(of: "://") else { throw .invalidURL(text) }
        switch trimmed[..<separator.lowerBound].lowercased() {
        case "ws", "http": isSecure = false
        case "wss", "https": isSecure = true
        default: throw .invalidURL(text)
        }
        var rest = trimmed[separator.upperBound...]
        if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        } else {
            query = ""
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        authority = String(rest[..<slash])
        guard !authority.isEmpty, !authority.hasPrefix(":"), !authority.contains("@") else { throw .invalidURL(text) }
        if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
            guard let port = Int(authority[authority.index(after: colon)...]), (1...65_535).contains(port) else {
                throw .invalidURL(text)
            }
        }
        var path = rest[slash...]
        while path.hasSuffix("/") { path = path.dropLast() }
        for suffix in ["/validate", "/v1", "/rtc"] where path.hasSuffix(suffix) {
            // "/v1" counts only below "/rtc".
            if suffix == "/v1" && !path.hasSuffix("/rtc/v1") { continue }
            path = path.dropLast(suffix.count)
            while path.hasSuffix("/") { path = path.dropLast() }
        }
        self.path = String(path)
    }

    /// The server as shown to users: scheme and host, no query.
    public var description: String { "\(isSecure ? "wss" : "ws")://\(authority)\(path)" }

    /// The host without the port.
    public var host: String {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[authority.index(after: authority.startIndex)..<end])
        }
        return authority.split(separator: ":").first.map(String.init) ?? authority
    }

    /// The WebSocket URL to join by.
    public func signal(_ signalPath: SignalPath, query items: [(String, String)]) -> String {
        url(isSecure ? "wss" : "ws", signalPath.rawValue, items)
    }

    /// The URL that tells why a join was refused.
    public func validation(_ signalPath: SignalPath, query items: [(String, String)]) -> String {
        url(isSecure ? "https" : "http", signalPath.rawValue + "/validate", items)
    }

    /// The URL that lists the regions of a service (LiveKit Cloud).
    public var regions: String { "\(isSecure ? "https" : "http")://\(authority)/settings/regions" }

    private func url(_ scheme: String, _ suffix: String, _ items: [(String, String)]) -> String {
        let pairs = items.map { "\($0.0)=\(Self.percentEncoded($0.1))" }
        let query = (query.isEmpty ? [] : [query]) + pairs
        return "\(scheme)://\(authority)\(path)\(suffix)" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// Everything but the unreserved characters of RFC 3986 is encoded, `+`, `/` and `=` of base64 included.
    static func percentEncoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                result += "%" + (hex.count == 1 ? "0" : "") + hex
            }
        }
        return result
    }
}
