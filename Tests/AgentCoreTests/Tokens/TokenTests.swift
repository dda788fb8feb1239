import AgentCore
import Foundation
import LoopCore
import Testing
import WebIO

@Suite struct TokenTests {
    private let vector =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJkZXZrZXkiLCJzdWIiOiJhbGljZSIsIm5iZiI6MTcwMDAwMDAwMCwiZXhwIjoxNzAwMDIxNjAwLCJuYW1lIjoiQWxpY2UiLCJ2aWRlbyI6eyJyb29tSm9pbiI6dHJ1ZSwicm9vbSI6ImRlbW8ifX0.fz88w5QXva6aMrg8iDFv3iWuwylBtCevfJvE9SLsXbY"

    @Test func mintingReproducesTheKnownToken() throws {
        var request = TokenRequest()
        request.participantName = "Alice"
        var grants = TokenMinter.Grants()
        grants.canUpdateOwnMetadata = false
        let token = TokenMinter(apiKey: "devkey", apiSecret: "secret").mint(
            identity: "alice", room: "demo", request: request, grants: grants,
            now: Date(timeIntervalSince1970: 1_700_000_000))
        #expect(token.value == vector)
        #expect(JSONWebToken.isSigned(vector, with: "secret"))
        #expect(!JSONWebToken.isSigned(vector, with: "Secret"))
        let decoded = try #require(JSONWebToken(decoding: vector))
        #expect(decoded.identity == "alice")
        #expect(decoded.video?.room == "demo")
        #expect(decoded.expiry == Date(timeIntervalSince1970: 1_700_021_600))
    }

    @Test func aTokenIsNeverPrinted() {
        let token = AccessToken(vector)
        var dumped = ""
        dump(ConnectionDetails(serverURL: "ws://x", participantToken: token), to: &dumped)
        for text in [
            "\(token)", String(reflecting: token), dumped,
            String(describing: TokenSourceConfiguration.literal(url: "ws://x", token: token)),
        ] {
            #expect(!text.contains("eyJ"))
        }
    }

    /// A token server that answers with `response`, counts, and keeps what it was asked.
    private actor Endpoint {
        nonisolated let loop = EventLoop()
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var server: HTTPServer?
        private(set) var requests: [HTTPServerRequest] = []

        func start(_ responses: [HTTPResponse]) throws -> String {
            let server = try HTTPServer(loop: loop)
            server.handle(path: "/") { [self] request, responder in
                requests.append(request)
                responder.respond(responses[min(requests.count, responses.count) - 1])
            }
            self.server = server
            return "http://127.0.0.1:\(server.port)"
        }

        func stop() {
            server?.close()
            server = nil
            loop.stop()
        }
    }

    private func fetch(
        _ responses: [HTTPResponse], _ request: TokenRequest = TokenRequest(), sandbox: Bool = false
    ) async throws -> (Result<ConnectionDetails, TokenError>, [HTTPServerRequest]) {
        let endpoint = Endpoint()
        let url = try await endpoint.start(responses)
        let source: TokenSourceConfiguration =
            sandbox
            ? .sandbox(id: "\"my-sandbox\" ", baseURL: url + "/")
            : .endpoint(url: url + "/token?key=hidden", method: "POST", headers: [("X-Team", "a")])
        var policy = TokenFetcher.Policy()
        policy.attempts = 3
        policy.backoff = .milliseconds(10)
        let result: Result<ConnectionDetails, TokenError>
        do throws(TokenError) {
            result = .success(try await TokenFetcher.fetch(source, request, loop: endpoint.loop, policy: policy))
        } catch {
            result = .failure(error)
        }
        let requests = await endpoint.requests
        await endpoint.stop()
        return (result, requests)
    }

    private func token(from start: Double = -10, to end: Double = 600) -> String {
        let now = Date(timeIntervalSinceNow: start)
        return TokenMinter(apiKey: "k", apiSecret: "s").mint(
            identity: "me", room: "demo", lifetime: .seconds(Int64(end - start)), now: now
        ).value
    }

    private func json(_ text: String) -> HTTPResponse {
        HTTPResponse(status: 200, text: text, contentType: "application/json")
    }

    @Test func bothSpellingsAreRead() async throws {
        for answer in [
            #"{"server_url":"wss://a","participant_token":"\#(token())","extra":1}"#,
            #"{"serverUrl":"wss://a","participantToken":"\#(token())","roomName":"demo"}"#,
        ] {
            let details = try await fetch([json(answer)]).0.get()
            #expect(details.serverURL == "wss://a")
            #expect(details.roomName == "demo")
            #expect(details.participantIdentity == "me")
        }
    }

    @Test func theRequestFollowsTheContract() async throws {
        var request = TokenRequest()
        request.roomName = "a room"
        request.participantName = "Me"
        let answer = json(#"{"serverUrl":"ws://a","participantToken":"\#(token())"}"#)
        let old = try #require(try await fetch([answer], request, sandbox: true).1.first)
        #expect(old.path == "/api/sandbox/connection-details")
        #expect(old.method == "POST" && old.body.isEmpty)
        #expect(old.headers["X-Sandbox-ID"] == "my-sandbox")
        #expect(old.query("roomName") == "a room" && old.query("participantName") == "Me")

        request.agentName = "support"
        request.agentMetadata = "{}"
        request.participantAttributes = ["a": "1"]
        let new = try #require(try await fetch([answer], request, sandbox: true).1.first)
        #expect(new.path == "/api/v2/sandbox/connection-details")
        #expect(
            String(decoding: new.body, as: UTF8.self)
                == #"{"room_name":"a room","participant_name":"Me","participant_attributes":{"a":"1"},"room_config":{"agents":[{"agent_name":"support","metadata":"{}"}]}}"#
        )
        let own = try #require(try await fetch([answer], request).1.first)
        #expect(own.headers["X-Team"] == "a" && own.query("key") == "hidden")
    }

    @Test func failuresAreToldApart() async throws {
        let good = token()
        let cases: [(HTTPResponse, String)] = [
            (HTTPResponse(status: 401, text: "who are you"), "(401: who are you)"),
            (HTTPResponse(status: 403, text: ""), "403"),
            (HTTPResponse(status: 404, text: ""), "does not exist (404)"), (HTTPResponse(status: 302, text: ""), "302"),
            (HTTPResponse(status: 500, text: ""), "3 times in a row"),
            (HTTPResponse(status: 200, text: "<html>", contentType: "text/html"), "a web page"),
            (json("nonsense"), "instead of JSON"), (json(#"{"participant_token":"x"}"#), "no server_url"),
            (json(#"{"server_url":"ws://a"}"#), "no participant_token"),
            (json(#"{"server_url":"ftp://a","participant_token":"\#(good)"}"#), "ftp://a cannot be used"),
            (json(#"{"server_url":"ws://a","participant_token":"APIabc"}"#), "an API key was given"),
            (json(#"{"server_url":"ws://a","participant_token":"a.b.c"}"#), "damaged"),
            (json(#"{"server_url":"ws://a","participant_token":"\#(token(from: -900, to: -300))"}"#), "expired"),
            (json(#"{"server_url":"ws://a","participant_token":"\#(token(from: 300, to: 900))"}"#), "valid only in"),
        ]
        for (response, words) in cases {
            guard case .failure(let error) = try await fetch([response]).0 else {
                Issue.record("\(words): not refused")
                continue
            }
            #expect(error.description.contains(words), "\(error)")
            #expect(!error.description.contains("hidden") && !error.description.contains("eyJh"))
        }
        guard case .failure(let unknown) = try await fetch([HTTPResponse(status: 404, text: "")], sandbox: true).0
        else {
            Issue.record("not refused")
            return
        }
        #expect(unknown == .unknownSandbox(id: "my-sandbox"))
    }

    @Test func passingFailuresAreTriedAgain() async throws {
        var limited = HTTPResponse(status: 429, text: "")
        limited.headers.add("Retry-After", "0")
        let good = json(#"{"serverUrl":"ws://a","participantToken":"\#(token())"}"#)
        let (result, requests) = try await fetch([HTTPResponse(status: 503, text: ""), limited, good])
        #expect(throws: Never.self) { try result.get() }
        #expect(requests.count == 3)
        let refused = try await fetch([HTTPResponse(status: 401, text: ""), good])
        #expect(refused.1.count == 1, "a refusal is final")
    }

    @Test func aSilentEndpointIsGivenUp() async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        var policy = TokenFetcher.Policy()
        policy.attempts = 1
        let source = TokenSourceConfiguration.endpoint(url: "http://127.0.0.1:1/token", method: "POST", headers: [])
        await #expect(throws: TokenError.self) {
            _ = try await TokenFetcher.fetch(source, TokenRequest(), loop: loop, policy: policy)
        }
    }
}
