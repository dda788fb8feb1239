/// A request for ``HTTPClient``.
public struct HTTPRequest: Sendable {
    /// Such as `GET` or `POST`.
    public var method: String
    /// An absolute `http` or `https` URL.
    public var url: String
    public var headers: HTTPHeaders
    public var body: [UInt8]

    public init(method: String = "GET", url: String, headers: HTTPHeaders = .init(), body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// An answer: what ``HTTPClient`` received, or what an ``HTTPServer`` shall send.
public struct HTTPResponse: Sendable, Equatable {
    /// The status code, 100...599.
    public var status: Int
    public var headers: HTTPHeaders
    public var body: [UInt8]

    public init(status: Int, headers: HTTPHeaders = .init(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer with a body of text.
    public init(status: Int, text: String, contentType: String = "text/plain; charset=utf-8") {
        self.init(status: status, headers: ["Content-Type": contentType], body: Array(text.utf8))
    }

    /// The body as text; bytes that are no UTF-8 become replacement characters.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Whether the status is 200...299.
    public var isSuccess: Bool { (200..<300).contains(status) }
}
