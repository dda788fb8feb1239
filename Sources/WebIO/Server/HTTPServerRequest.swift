/// A request that an ``HTTPServer`` received.
public struct HTTPServerRequest: Sendable {
    public var method: String
    /// The path, percent-decoded; starts with a slash.
    public var path: String
    /// The query as sent, without the question mark.
    public var rawQuery: String?
    public var headers: HTTPHeaders
    public var body: [UInt8]

    /// The items of the query in order, percent-decoded, a plus sign read as a space (as in HTML forms).
    public var queryItems: [(name: String, value: String)] { [] }

    /// The value of the first query item of that name.
    public func query(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The token of an `Authorization: Bearer` header.
    public var bearerToken: String? { nil }
}

/// Answers one request, now or later, confined to the loop. Dropped without an answer, it answers with 500.
public final class HTTPResponder {
    /// Sends the answer. Only the first call counts; harmless when the client has gone.
    public func respond(_ response: HTTPResponse) {}

    /// Drops the connection without an answer.
    public func abort() {}
}
