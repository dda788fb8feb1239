import LoopCore
import WebIO

@testable import AgentCore

/// A token endpoint on 127.0.0.1 that answers as told, and a fetcher, on one loop.
actor TokenServer {
    nonisolated let loop = EventLoop(name: "token-tests")
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var server: HTTPServer?
    private var answers: [HTTPResponse] = []
    private var silent: [HTTPResponder] = []
    private(set) var requests: [HTTPServerRequest] = []
    private(set) var arrivals: [MonotonicTime] = []
    private var fetcher: TokenFetcher?

    deinit {
        loop.stop()
    }

    /// Starts to listen.
    /// - Parameter answers: one for each request; the last is repeated. None: requests are not answered.
    /// - Returns: the base URL.
    func start(_ answers: HTTPResponse...) throws -> String {
        self.answers = answers
        let server = try HTTPServer(loop: loop)
        server.handle(path: "/") { [self] request, responder in
            requests.append(request)
            arrivals.append(.now)
            if self.answers.isEmpty {
                silent.append(responder)
            } else {
                responder.respond(self.answers.count > 1 ? self.answers.removeFirst() : self.answers[0])
            }
        }
        self.server = server
        return "http://127.0.0.1:\(server.port)"
    }

    func fetch(
        _ source: TokenSourceConfiguration, _ request: TokenRequest = TokenRequest(),
        policy: TokenFetcher.Policy = .quick
    ) async -> Result<ConnectionDetails, TokenError> {
        let fetcher = TokenFetcher(loop: loop, policy: policy)
        self.fetcher = fetcher
        return await withCheckedContinuation { continuation in
            fetcher.fetch(source, request) { continuation.resume(returning: $0) }
        }
    }
}

extension TokenFetcher.Policy {
    static var quick: TokenFetcher.Policy {
        var policy = TokenFetcher.Policy()
        policy.attempts = 3
        policy.timeout = .milliseconds(500)
        policy.total = .seconds(2)
        policy.backoff = .milliseconds(10)
        return policy
    }
}

extension Result where Failure == TokenError {
    var error: TokenError? {
        if case .failure(let error) = self { error } else { nil }
    }

    var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }
}

extension HTTPResponse {
    static func json(_ text: String, status: Int = 200, headers: HTTPHeaders = .init()) -> HTTPResponse {
        var response = HTTPResponse(status: status, text: text, contentType: "application/json")
        for field in headers.fields { response.headers.add(field.name, field.value) }
        return response
    }
}
