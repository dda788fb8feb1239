import Foundation
import LoopCore
import WebIO

/// A plain HTTP client for tests.
actor HTTP {
    nonisolated let loop = EventLoop(name: "test-http")
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var client: HTTPClient?
    private var call: HTTPCall?

    func send(
        _ method: String, _ url: String, headers: [(String, String)] = [], body: String = ""
    ) async throws -> HTTPResponse {
        let client = client ?? HTTPClient(loop: loop)
        self.client = client
        let request = HTTPRequest(method: method, url: url, headers: HTTPHeaders(headers), body: Array(body.utf8))
        return try await withCheckedThrowingContinuation { continuation in
            call = client.send(request, timeout: .seconds(10)) { continuation.resume(with: $0) }
        }
    }

    func get(_ url: String, bearer: String? = nil) async throws -> String {
        let response = try await send("GET", url, headers: bearer.map { [("Authorization", "Bearer \($0)")] } ?? [])
        return "\(response.status) \(response.text)"
    }
}

extension HTTPResponse {
    /// The members of a JSON object whose values are text.
    var object: [String: String] {
        (try? JSONDecoder().decode([String: String].self, from: Data(body))) ?? [:]
    }
}
