import CGLib
import CSoup

/// A request that an ``HTTPServer`` received.
public struct HTTPServerRequest: Sendable {
    public var method: String
    /// The path, percent-decoded; starts with a slash.
    public var path: String
    /// The query as sent, without the question mark.
    public var rawQuery: String?
    public var headers: HTTPHeaders
    public var body: [UInt8]
    /// The client's address, such as `127.0.0.1`.
    public var remoteAddress: String
    /// The items of the query in order, percent-decoded, a plus sign read as a space (as in HTML forms).
    public var queryItems: [(name: String, value: String)]

    public init(
        method: String, path: String, rawQuery: String? = nil, headers: HTTPHeaders = .init(), body: [UInt8] = [],
        remoteAddress: String = ""
    ) {
        self.method = method
        self.path = path
        self.rawQuery = rawQuery
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
        queryItems = Self.items(rawQuery ?? "")
    }

    /// The value of the first query item of that name.
    public func query(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The token of an `Authorization: Bearer` header.
    public var bearerToken: String? {
        guard let value = headers["Authorization"], let space = value.firstIndex(of: " "),
            String(value[..<space]).equalsIgnoringCase("bearer")
        else { return nil }
        return String(value[space...]).trimmingBlanks
    }

    /// Whether the client asks for a WebSocket.
    var isUpgrade: Bool {
        headers["Upgrade"]?.equalsIgnoringCase("websocket") == true
            && headers.contains(token: "upgrade", in: "Connection")
    }

    private static func items(_ query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (decoded(pair[0]), pair.count > 1 ? decoded(pair[1]) : "")
        }
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPServerRequest {
    /// What libsoup received.
    init(_ message: OpaquePointer) {
        let uri = soup_server_message_get_uri(message)
        var body: [UInt8] = []
        if let data = soup_server_message_get_request_body(message), let bytes = soup_message_body_flatten(data) {
            body = takeBytes(bytes)
        }
        self.init(
            method: soup_server_message_get_method(message).map { String(cString: $0) } ?? "",
            path: g_uri_get_path(uri).map { String(cString: $0) } ?? "/",
            rawQuery: g_uri_get_query(uri).map { String(cString: $0) },
            headers: HTTPHeaders(soup_server_message_get_request_headers(message)),
            body: body,
            remoteAddress: soup_server_message_get_remote_host(message).map { String(cString: $0) } ?? "")
    }
}
