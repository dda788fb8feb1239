import Foundation
import LoopCore
import Testing
import WebIO

@testable import AgentCore

@Suite struct TokenFetcherTests {
    let server = TokenServer()

    private static func token(
        expiresIn seconds: Double = 600, startsIn start: Double = -10,
        video: String = #"{"roomJoin":true,"room":"demo"}"#
    ) -> String {
        let now = Date().timeIntervalSince1970
        return JSONWebToken.sign(
            payload:
                "{\"iss\":\"k\",\"sub\":\"me\",\"nbf\":\(Int(now + start)),\"exp\":\(Int(now + seconds)),\"video\":\(video)}",
            secret: "s")
    }

    private static let good = HTTPResponse.json(#"{"server_url":"wss://h.example","participant_token":"\#(token())"}"#)

    private func endpoint(_ url: String) -> TokenSourceConfiguration {
        .endpoint(url: url + "/token?key=hidden", method: "POST", headers: [])
    }

    private func literal(_ token: String, url: String = "ws://h.example") async -> Result<ConnectionDetails, TokenError>
    {
        await server.fetch(.literal(url: url, token: AccessToken(token)))
    }

    /// The error of an endpoint that answers so, with no secret in its text.
    private func error(_ answers: HTTPResponse) async throws -> TokenError {
        let error = try #require(await server.fetch(endpoint(try await server.start(answers))).error)
        #expect(!error.description.contains("hidden"))
        #expect(!error.description.contains("eyJ"))
        return error
    }

    // MARK: Requests

    @Test func asksTheOldSandboxEndpoint() async throws {
        let url = try await server.start(
            .json(
                #"{"serverUrl":"wss://h.example","roomName":"r","participantName":"n","participantToken":"\#(Self.token())"}"#
            ))
        var request = TokenRequest()
        request.roomName = "my room"
        request.participantName = "a&b"
        let details = await server.fetch(.sandbox(id: " \"box-1a2b\"\n", baseURL: url + "/"), request).value
        #expect(details?.serverURL == "wss://h.example")
        #expect(details?.roomName == "r")
        #expect(details?.participantIdentity == "me")
        let received = try #require(await server.requests.first)
        #expect(received.method == "POST")
        #expect(received.path == "/api/sandbox/connection-details")
        #expect(received.rawQuery == "roomName=my%20room&participantName=a%26b")
        #expect(received.headers["X-Sandbox-ID"] == "box-1a2b")
        #expect(received.body == [])
    }

    @Test func asksTheNewSandboxEndpoint() async throws {
        let url = try await server.start(Self.good)
        var request = TokenRequest()
        request.roomName = "r"
        request.participantAttributes = ["lang": "de"]
        request.agentName = "helper"
        request.agentMetadata = "m"
        #expect(await server.fetch(.sandbox(id: "box", baseURL: url), request).value?.roomName == "demo")
        let received = try #require(await server.requests.first)
        #expect(received.path == "/api/v2/sandbox/connection-details")
        #expect(received.headers["Content-Type"] == "application/json")
        #expect(
            String(decoding: received.body, as: UTF8.self)
                == #"{"room_name":"r","participant_attributes":{"lang":"de"},"#
                + #""room_config":{"agents":[{"agent_name":"helper","metadata":"m"}]}}"#)
    }

    @Test func asksAnyEndpoint() async throws {
        let url = try await server.start(Self.good)
        var request = TokenRequest()
        request.participantIdentity = "ada"
        request.participantMetadata = "meta"
        let source = TokenSourceConfiguration.endpoint(
            url: url + "/t", method: "PUT", headers: [("Authorization", "Bearer abc")])
        #expect(await server.fetch(source, request).value?.serverURL == "wss://h.example")
        let received = try #require(await server.requests.first)
        #expect(received.method == "PUT")
        #expect(received.bearerToken == "abc")
        #expect(
            String(decoding: received.body, as: UTF8.self)
                == #"{"participant_identity":"ada","participant_metadata":"meta"}"#)
    }

    @Test func mintsLocally() async throws {
        var request = TokenRequest()
        request.participantIdentity = "ada"
        request.roomName = "r"
        let minter = TokenMinter(apiKey: "k", apiSecret: "s")
        let details = try #require(
            await server.fetch(.local(url: "ws://h", minter: minter, lifetime: .seconds(60)), request).value)
        #expect(details.roomName == "r")
        #expect(details.participantIdentity == "ada")
        #expect(JSONWebToken.isSigned(details.participantToken.value, with: "s"))
        let other = try #require(
            await server.fetch(.local(url: "ws://h", minter: minter, lifetime: .seconds(60))).value)
        #expect(other.roomName?.isEmpty == false)
        #expect(other.participantIdentity?.isEmpty == false)
    }

    @Test(arguments: [("", "s"), ("k", ""), (" ", "s"), ("k", "\n")])
    func emptyKeysAreNamed(key: String, secret: String) async {
        let source = TokenSourceConfiguration.local(
            url: "ws://h", minter: TokenMinter(apiKey: key, apiSecret: secret), lifetime: .seconds(60))
        let error = await server.fetch(source).error
        #expect(error?.description.contains("LIVEKIT_API_SECRET") == true)
        #expect(error?.category == .usage)
    }

    @Test(arguments: ["", "  ", "\"\"", "'--'"])
    func emptySandboxesAreNamed(id: String) async {
        let error = await server.fetch(.sandbox(id: id, baseURL: "http://127.0.0.1:1")).error
        #expect(error?.description.contains("the sandbox id is empty") == true)
        #expect(error?.category == .usage)
    }

    // MARK: What is given outright

    @Test func literalTokensAreTrimmed() async {
        let token = Self.token()
        #expect(await literal("  \"\(token)\"\n").value?.participantToken.value == token)
    }

    @Test(arguments: [
        ("", "is empty"), (" \n", "is empty"), ("\"\"", "is empty"), ("APIabcDEF123456", "an API key was given"),
        ("vk_abc", "secret key"), ("wss://h.example", "a URL was given"),
        ("0123456789abcdefghijklmnopqrstuvwxyz", "is none"),
        ("eyJh.broken.token", "damaged"),
    ])
    func whatIsNoTokenIsNamed(text: String, words: String) async {
        let error = await literal(text).error
        guard case .notAToken = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        #expect(error?.category == .authorization)
        if text.count > 3 { #expect(error?.description.contains(text) == false) }
    }

    @Test(arguments: ["", " ", "h.example", "ftp://h", "mailto:x", "wss://", "://"])
    func uselessServersAreNamed(url: String) async {
        let error = await literal(Self.token(), url: url).error
        #expect(error?.category == .usage, "\(String(describing: error))")
    }

    @Test func expiredTokensAreNamed() async {
        #expect(await literal(Self.token(expiresIn: -30)).error == nil)
        let error = await literal(Self.token(expiresIn: -3600)).error
        guard case .expired(3590...3610, nil)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("Get a new one") == true)
    }

    @Test func tokensOfTheFutureAreNamed() async {
        #expect(await literal(Self.token(startsIn: 30)).error == nil)
        guard case .notYetValid(3590...3610, nil)? = await literal(Self.token(startsIn: 3600)).error else {
            Issue.record("not refused")
            return
        }
    }

    @Test func clockSkewIsNamed() {
        let details = ConnectionDetails(
            serverURL: "ws://h", participantToken: AccessToken(Self.token(expiresIn: 600)))
        // The server's clock stands at 12:00; here it is an hour later.
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let error = TokenFetcher.check(
            details, serverDate: formatter.string(from: Date()), now: Date().addingTimeInterval(3600)
        ).error
        guard case .expired(_, .some(3595...3605)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("s ahead of the server's") == true)
        for garbage in ["", "yesterday", "0", "Thu, 99 Foo 9999 99:99:99 GMT"] {
            _ = TokenFetcher.check(details, serverDate: garbage)
        }
    }

    @Test func aTokenThatDoesNotLetJoinIsNamed() async {
        #expect(await literal(Self.token(video: #"{"roomCreate":true}"#)).error == .noJoinGrant)
    }

    // MARK: Failures of endpoints

    @Test func unknownHostsAreNamed() async {
        let error = await server.fetch(.sandbox(id: "box", baseURL: "http://nowhere.invalid")).error
        guard case .unreachable(_, .cannotResolve(host: "nowhere.invalid"))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.category == .connection)
    }

    @Test func refusedConnectionsAreNamed() async {
        let error = await server.fetch(endpoint("http://127.0.0.1:1")).error
        guard case .unreachable("http://127.0.0.1:1/token", .connectionRefused)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["ftp://h/", "h.example/token", "", "http://", "http://u:hidden@h/"])
    func uselessEndpointsAreNamed(url: String) async {
        let error = await server.fetch(.endpoint(url: url, method: "POST", headers: [])).error
        #expect(error?.category == .usage, "\(String(describing: error))")
        #expect(error?.description.contains("hidden") == false)
    }

    @Test(arguments: [401, 403])
    func refusalsAreNamed(status: Int) async throws {
        let error = try await error(HTTPResponse(status: status, text: "wrong password\nmore"))
        #expect(error == .refused(endpoint: try #require(await url), status: status, reason: "wrong password"))
        #expect(error.category == .authorization)
        #expect(await server.requests.count == 1)
    }

    @Test func unknownSandboxesAreNamed() async throws {
        let base = try await server.start(HTTPResponse(status: 404))
        #expect(await server.fetch(.sandbox(id: "box", baseURL: base)).error == .unknownSandbox(id: "box"))
        #expect(await server.fetch(endpoint(base)).error == .notFound(endpoint: base + "/token"))
    }

    @Test func serverFailuresAreRetriedAndNamed() async throws {
        let error = try await error(HTTPResponse(status: 503, text: "busy"))
        #expect(error == .serverFailure(endpoint: try #require(await url), status: 503, attempts: 3))
        #expect(error.isRetryable)
        #expect(await server.requests.count == 3)
    }

    @Test func retriesSucceed() async throws {
        let base = try await server.start(HTTPResponse(status: 500), HTTPResponse(status: 502), Self.good)
        #expect(await server.fetch(endpoint(base)).value != nil)
        #expect(await server.requests.count == 3)
    }

    @Test func retryAfterIsHonoured() async throws {
        let base = try await server.start(HTTPResponse(status: 429, headers: ["Retry-After": "1"]), Self.good)
        #expect(await server.fetch(endpoint(base)).value != nil)
        let arrivals = await server.arrivals
        #expect(arrivals.count == 2 && (arrivals[1] - arrivals[0]).inSeconds >= 1)
    }

    @Test(arguments: ["3600", "99999999999999", "Fri, 01 Jan 2100 00:00:00 GMT"])
    func aLongWaitIsNotWaitedFor(value: String) async throws {
        let error = try await error(HTTPResponse(status: 429, headers: ["Retry-After": value]))
        guard case .rateLimited(_, .some(let wait)) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(wait >= .seconds(3600))
        #expect(await server.requests.count == 1)
    }

    @Test func webPagesAreNamed() async throws {
        let page = HTTPResponse(status: 200, text: "<!doctype html><title>Log in</title>", contentType: "text/html")
        #expect(try await error(page) == .notJSON(endpoint: try #require(await url), isHTML: true))
    }

    @Test(arguments: ["", "hello", "[]", "{", "\"x\"", "null", "{\"server_url\":", "\u{FEFF}nonsense"])
    func textIsNamed(body: String) async throws {
        #expect(try await error(.json(body)) == .notJSON(endpoint: try #require(await url), isHTML: false))
    }

    @Test(arguments: [
        (#"{"participant_token":"x"}"#, "server_url"), (#"{"server_url":"ws://h"}"#, "participant_token"),
        (#"{"server_url":7,"participant_token":"x"}"#, "server_url"),
        (#"{"server_url":"ws://h","participant_token":""}"#, "participant_token"),
    ])
    func missingFieldsAreNamed(body: String, field: String) async throws {
        #expect(try await error(.json(body)) == .missingField(endpoint: try #require(await url), field: field))
    }

    @Test func deeplyNestedAnswersDoNoHarm() async throws {
        let body = String(repeating: "{\"a\":", count: 100_000) + "1" + String(repeating: "}", count: 100_000)
        #expect(try await error(.json(body)) == .notJSON(endpoint: try #require(await url), isHTML: false))
    }

    @Test func redirectsAreNamed() async throws {
        let error = try await error(
            HTTPResponse(status: 302, headers: ["Location": "https://login.example/?next=hidden"]))
        #expect(error.description.contains("a redirect to https://login.example/)"))
    }

    @Test func slowEndpointsTimeOut() async throws {
        let base = try await server.start()
        var policy = TokenFetcher.Policy.quick
        policy.timeout = .milliseconds(150)
        policy.total = .milliseconds(400)
        let start = Date()
        let error = try #require(await server.fetch(endpoint(base), policy: policy).error)
        #expect(Date().timeIntervalSince(start) < 8)
        #expect(error.isRetryable)
        #expect(error.category == .connection)
    }

    @Test func hugeAnswersAreRefused() async throws {
        let error = try await error(.json(String(repeating: " ", count: 5 << 20)))
        guard case .unreachable(_, .tooLarge) = error else {
            Issue.record("\(error)")
            return
        }
    }

    /// The endpoint as messages show it.
    private var url: String? {
        get async {
            guard let host = await server.requests.first?.headers["Host"] else { return nil }
            return "http://\(host)/token"
        }
    }
}
