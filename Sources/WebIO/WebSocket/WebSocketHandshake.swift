import CGLib

/// The client's side of the opening handshake (RFC 6455, section 4). Pure.
struct WebSocketHandshake {
    /// What the server's answer amounts to.
    enum Outcome: Equatable {
        /// Upgraded; bytes beyond the head belong to the WebSocket already.
        case accepted(HTTPHeaders, rest: [UInt8])
        /// An ordinary answer.
        case refused(HTTPResponse)
    }

    struct Failure: Error, Equatable {
        var reason: String
    }

    /// The largest head, in bytes.
    static let maxHeadSize = 64 << 10
    /// The most bytes kept of the body of a refusal.
    static let maxBodySize = 64 << 10

    private let key: String
    private var received: [UInt8] = []
    private var head: HTTPResponse?

    /// - Parameter nonce: 16 random bytes.
    init(nonce: [UInt8]) {
        key = base64(nonce)
    }

    /// The request, to be sent as it is.
    func request(_ url: WebURL, headers: HTTPHeaders, userAgent: String) -> [UInt8] {
        var text = "GET \(url.target) HTTP/1.1\r\nHost: \(url.authority)\r\nUpgrade: websocket\r\n"
        text += "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n"
        if headers["User-Agent"] == nil { text += "User-Agent: \(userAgent)\r\n" }
        for field in headers.fields { text += "\(field.name): \(field.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    /// What a server that accepts answers in `Sec-WebSocket-Accept`.
    static func accept(key: String) -> String {
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        let checksum = g_checksum_new(G_CHECKSUM_SHA1)
        defer { g_checksum_free(checksum) }
        g_checksum_update(checksum, Array(text.utf8), gssize(text.utf8.count))
        var digest = [UInt8](repeating: 0, count: 20)
        var length = gsize(digest.count)
        g_checksum_get_digest(checksum, &digest, &length)
        return base64(digest)
    }

    /// Takes bytes; `nil` until the answer is complete.
    mutating func receive(_ bytes: some Collection<UInt8>) throws(Failure) -> Outcome? {
        received += bytes
        // An alert record of TLS (RFC 8446, section 5.1).
        guard received.first != 0x15 else { throw Failure(reason: "it speaks TLS: use wss:// or https://") }
        if head == nil {
            guard let end = headEnd() else {
                if received.count > Self.maxHeadSize { throw Failure(reason: "its HTTP headers do not end") }
                return nil
            }
            let response = try parseHead(received[..<end])
            received.removeFirst(end)
            if response.status == 101 {
                try verify(response.headers)
                return .accepted(response.headers, rest: received)
            }
            head = response
        }
        return body(atEnd: false)
    }

    /// The connection ended: the refusal as far as it came; `nil` if not even its headers did.
    func end() -> Outcome? {
        body(atEnd: true)
    }

    // MARK: Parts

    /// Behind the empty line. Bare line feeds are taken as line ends as well.
    private func headEnd() -> Int? {
        var index = 0
        while index < received.count {
            if received[index] == 0x0A {
                if index + 1 < received.count, received[index + 1] == 0x0A { return index + 2 }
                if index + 2 < received.count, received[index + 1] == 0x0D, received[index + 2] == 0x0A {
                    return index + 3
                }
            }
            index += 1
        }
        return nil
    }

    private func parseHead(_ bytes: ArraySlice<UInt8>) throws(Failure) -> HTTPResponse {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: true).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
        let parts = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), parts[1].utf8.count == 3, let status = Int(parts[1]),
            (100...599).contains(status)
        else {
            throw Failure(reason: "its answer is not HTTP (\"\(printable(lines.first ?? "", limit: 60))\")")
        }
        var response = HTTPResponse(status: status)
        for line in lines.dropFirst() where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else {
                throw Failure(reason: "its answer has a header without a colon")
            }
            response.headers.add(
                String(line[..<colon]).trimmingBlanks, String(line[line.index(after: colon)...]).trimmingBlanks)
        }
        return response
    }

    private func verify(_ headers: HTTPHeaders) throws(Failure) {
        guard headers["Upgrade"]?.equalsIgnoringCase("websocket") == true,
            headers.contains(token: "upgrade", in: "Connection")
        else { throw Failure(reason: "it switches to another protocol than WebSocket") }
        guard headers["Sec-WebSocket-Accept"] == Self.accept(key: key) else {
            throw Failure(reason: "its answer does not belong to this request (Sec-WebSocket-Accept)")
        }
        guard headers["Sec-WebSocket-Extensions"] == nil, headers["Sec-WebSocket-Protocol"] == nil else {
            throw Failure(reason: "it uses an extension or a subprotocol that was not asked for")
        }
    }

    private func body(atEnd: Bool) -> Outcome? {
        guard var response = head else { return nil }
        let limited = received.count > Self.maxBodySize
        if response.headers["Transfer-Encoding"]?.equalsIgnoringCase("chunked") == true {
            let (data, complete) = unchunked(received)
            guard complete || atEnd || limited else { return nil }
            response.body = data
        } else if let text = response.headers["Content-Length"], let length = Int(text), length >= 0 {
            guard received.count >= length || atEnd || limited else { return nil }
            response.body = Array(received.prefix(length))
        } else {
            guard atEnd || limited || [204, 304].contains(response.status) else { return nil }
            response.body = received
        }
        response.body = Array(response.body.prefix(Self.maxBodySize))
        return .refused(response)
    }
}

/// The data of a chunked body (RFC 9112, section 7.1), and whether its end has come. Garbage ends it.
private func unchunked(_ bytes: [UInt8]) -> (data: [UInt8], complete: Bool) {
    var data: [UInt8] = []
    var rest = bytes[...]
    while let lineEnd = rest.firstIndex(of: 0x0A) {
        let line = String(decoding: rest[..<lineEnd], as: UTF8.self)
        guard let size = Int(line.prefix { $0.isHexDigit }, radix: 16), size > 0 else { return (data, true) }
        rest = rest[(lineEnd + 1)...]
        guard size <= rest.count else { return (data + rest, false) }
        data += rest.prefix(size)
        rest = rest.dropFirst(size)
        if rest.first == 0x0D { rest = rest.dropFirst() }
        if rest.first == 0x0A { rest = rest.dropFirst() }
    }
    return (data, false)
}

private func base64(_ bytes: [UInt8]) -> String {
    guard let text = g_base64_encode(bytes, gsize(bytes.count)) else { return "" }
    defer { g_free(text) }
    return String(cString: text)
}
