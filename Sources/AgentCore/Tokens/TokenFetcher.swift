import Foundation
public import LoopCore
public import WebIO

/// Gets a server's URL and a token from a source: fetches, mints, or takes what is given, and checks it before it is
/// used. Confined to the loop.
public final class TokenFetcher {
    /// Limits and retries of fetching.
    public struct Policy: Sendable, Equatable {
        public var attempts = 4
        /// For one attempt.
        public var timeout: Duration = .seconds(10)
        /// For all of them.
        public var total: Duration = .seconds(30)
        /// Before the second attempt; doubled for each further one, with up to half of it more at random.
        public var backoff: Duration = .milliseconds(300)

        public init() {}
    }

    public typealias Completion = (Result<ConnectionDetails, TokenError>) -> Void

    private let loop: EventLoop
    private let http: HTTPClient
    private let policy: Policy
    private var retry: LoopTimer?
    private var call: HTTPCall?
    private var started = MonotonicTime.now

    public init(loop: EventLoop, options: WebOptions = WebOptions(), policy: Policy = Policy()) {
        self.loop = loop
        self.policy = policy
        http = HTTPClient(loop: loop, options: options)
    }

    deinit {
        call?.cancel()
    }

    /// Gets a token. `completion` is called once, on the loop, never from inside this call; not at all when the
    /// fetcher is dropped before.
    public func fetch(
        _ source: TokenSourceConfiguration, _ request: TokenRequest, completion: @escaping Completion
    ) {
        started = .now
        switch source {
        case .literal(let url, let token):
            let details = ConnectionDetails(serverURL: url, participantToken: token)
            finish(Self.check(details, serverDate: nil), completion)
        case .local(let url, let minter, let lifetime):
            guard minter.isComplete else {
                let what =
                    "the API key or its secret is empty. Set both LIVEKIT_API_KEY and LIVEKIT_API_SECRET, or "
                    + "give a token with --token"
                return finish(.failure(.invalidConfiguration(what)), completion)
            }
            let identity = request.participantIdentity ?? "agentctl-" + Self.randomSuffix()
            let token = minter.mint(
                identity: identity, room: request.roomName ?? "agentctl-" + Self.randomSuffix(), request: request,
                lifetime: lifetime)
            finish(Self.check(ConnectionDetails(serverURL: url, participantToken: token), serverDate: nil), completion)
        case .endpoint(let url, let method, let headers):
            var message = HTTPRequest(method: method, url: url)
            for (name, value) in headers { message.headers.add(name, value) }
            message.headers.add("Content-Type", "application/json")
            message.headers.add("Accept", "application/json")
            if method.uppercased() != "GET" { message.body = Array(request.body.line.utf8) }
            send(message, sandboxID: nil, attempt: 1, completion)
        case .sandbox(let id, let baseURL):
            send(id: id, baseURL: baseURL, request, completion)
        }
    }

    /// ``fetch(_:_:completion:)`` for code that is not on the loop.
    public static func fetch(
        _ source: TokenSourceConfiguration, _ request: TokenRequest, loop: EventLoop,
        options: WebOptions = WebOptions(), policy: Policy = Policy()
    ) async throws(TokenError) -> ConnectionDetails {
        try await LoopFetch(loop: loop).run(source, request, options, policy).get()
    }

    private func send(id: String, baseURL: String, _ request: TokenRequest, _ completion: @escaping Completion) {
        // Quotes and blanks around ids come from configuration files.
        let clean = id.trimmingCharacters(in: CharacterSet.alphanumerics.inverted)
        guard !clean.isEmpty else {
            let what = "the sandbox id is empty. Set LIVEKIT_SANDBOX_ID or give --sandbox"
            return finish(.failure(.invalidConfiguration(what)), completion)
        }
        var base = baseURL
        while base.hasSuffix("/") { base.removeLast() }
        var message = HTTPRequest(method: "POST", url: base)
        message.headers.add("X-Sandbox-ID", clean)
        message.headers.add("Accept", "application/json")
        if request.needsBody {
            message.url += "/api/v2/sandbox/connection-details"
            message.headers.add("Content-Type", "application/json")
            message.body = Array(request.body.line.utf8)
        } else {
            let items = [("roomName", request.roomName), ("participantName", request.participantName)]
            let query = items.compactMap { name, value in value.map { "\(name)=\(LiveKitURL.percentEncoded($0))" } }
            message.url += "/api/sandbox/connection-details" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        }
        send(message, sandboxID: clean, attempt: 1, completion)
    }

    // MARK: Requests

    private func send(
        _ message: HTTPRequest, sandboxID: String?, attempt: Int, _ completion: @escaping Completion
    ) {
        let scheme = message.url.split(separator: ":").first?.lowercased()
        guard scheme == "http" || scheme == "https" else {
            return finish(.failure(.invalidURL(Self.endpoint(message.url))), completion)
        }
        let left = policy.total - (MonotonicTime.now - started)
        call = http.send(message, timeout: max(min(policy.timeout, left), .milliseconds(1))) { [weak self] result in
            self?.received(result, message, sandboxID: sandboxID, attempt: attempt, completion)
        }
    }

    private func received(
        _ result: Result<HTTPResponse, WebError>, _ message: HTTPRequest, sandboxID: String?, attempt: Int,
        _ completion: @escaping Completion
    ) {
        let endpoint = Self.endpoint(message.url)
        let error: TokenError
        var wait: Duration?
        switch result {
        case .failure(.invalidURL(let reason)):
            return completion(.failure(.invalidConfiguration("the token endpoint cannot be used: \(reason)")))
        case .failure(.timedOut) where MonotonicTime.now - started >= policy.total:
            return completion(.failure(.timedOut(endpoint: endpoint, after: policy.total)))
        case .failure(let failure):
            error = .unreachable(endpoint: endpoint, failure)
            guard failure.isTransient else { return completion(.failure(error)) }
        case .success(let response):
            switch Self.read(response, endpoint: endpoint, sandboxID: sandboxID, attempts: attempt) {
            case .success(let details):
                return completion(Self.check(details, serverDate: response.headers["Date"]))
            case .failure(let failure):
                guard failure.isRetryable else { return completion(.failure(failure)) }
                error = failure
                if case .rateLimited(_, let retryAfter) = failure { wait = retryAfter }
            }
        }
        guard attempt < policy.attempts else { return completion(.failure(error)) }
        let backoff = policy.backoff * (1 << (attempt - 1))
        let delay = wait ?? backoff + backoff * Double.random(in: 0...0.5)
        guard MonotonicTime.now - started + delay < policy.total else { return completion(.failure(error)) }
        retry = loop.schedule(after: delay) { [weak self] in
            self?.send(message, sandboxID: sandboxID, attempt: attempt + 1, completion)
        }
    }

    private func finish(_ result: Result<ConnectionDetails, TokenError>, _ completion: @escaping Completion) {
        retry = loop.schedule(after: .zero) { completion(result) }
    }

    // MARK: Answers

    private static func read(
        _ response: HTTPResponse, endpoint: String, sandboxID: String?, attempts: Int
    ) -> Result<ConnectionDetails, TokenError> {
        switch response.status {
        case 200...299: break
        case 401, 403:
            return .failure(.refused(endpoint: endpoint, status: response.status, reason: excerpt(response)))
        case 300...399:
            let target = response.headers["Location"].map(Self.endpoint)
            let reason = "a redirect\(target.map { " to \($0)" } ?? "")"
            return .failure(.unexpectedStatus(endpoint: endpoint, status: response.status, reason: reason))
        case 404:
            return .failure(sandboxID.map { .unknownSandbox(id: $0) } ?? .notFound(endpoint: endpoint))
        case 429:
            return .failure(.rateLimited(endpoint: endpoint, retryAfter: retryAfter(response)))
        case 500...599:
            return .failure(.serverFailure(endpoint: endpoint, status: response.status, attempts: attempts))
        default:
            return .failure(.unexpectedStatus(endpoint: endpoint, status: response.status, reason: excerpt(response)))
        }
        guard let object = try? JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any] else {
            return .failure(.notJSON(endpoint: endpoint, isHTML: isHTML(response)))
        }
        func member(_ names: String...) -> String? {
            names.lazy.compactMap { object[$0] as? String }.first { !$0.isEmpty }
        }
        guard let url = member("server_url", "serverUrl", "url") else {
            return .failure(.missingField(endpoint: endpoint, field: "server_url"))
        }
        guard let token = member("participant_token", "participantToken", "token") else {
            return .failure(.missingField(endpoint: endpoint, field: "participant_token"))
        }
        return .success(
            ConnectionDetails(
                serverURL: url, participantToken: AccessToken(token), roomName: member("room_name", "roomName")))
    }

    /// Looks at a token before it is used, and fills in what it says of room and identity.
    static func check(
        _ details: ConnectionDetails, serverDate: String?, now: Date = Date()
    ) -> Result<ConnectionDetails, TokenError> {
        var details = details
        guard !details.serverURL.allSatisfy(\.isWhitespace) else {
            return .failure(.invalidConfiguration("the server's URL is empty. Set LIVEKIT_URL or give --url"))
        }
        do throws(DisconnectCause) {
            _ = try LiveKitURL(details.serverURL)
        } catch {
            return .failure(.invalidURL(endpoint(details.serverURL)))
        }
        // Line breaks come with files, quotes with configuration.
        let text = details.participantToken.value.filter { !$0.isWhitespace }.trimmingCharacters(in: quotes)
        details.participantToken = AccessToken(text)
        guard !text.isEmpty else {
            return .failure(.notAToken("the token is empty. Give one with --token or LIVEKIT_TOKEN"))
        }
        guard let token = JSONWebToken(decoding: text) else { return .failure(.notAToken(wrongKind(text))) }
        let skew = serverDate.flatMap(httpDate).map { wholeSeconds(now.timeIntervalSince($0)) }
        // Servers allow a minute of difference between clocks.
        if let expiry = token.expiry, now.timeIntervalSince(expiry) > 60 {
            return .failure(.expired(secondsAgo: wholeSeconds(now.timeIntervalSince(expiry)), clockSkew: skew))
        }
        if let start = token.notBefore, start.timeIntervalSince(now) > 60 {
            return .failure(.notYetValid(secondsAhead: wholeSeconds(start.timeIntervalSince(now)), clockSkew: skew))
        }
        guard token.video?.roomJoin == true else { return .failure(.noJoinGrant) }
        details.roomName = details.roomName ?? token.video?.room
        details.participantIdentity = token.identity
        return .success(details)
    }

    /// What people paste where a token belongs; the text itself is not repeated.
    private static func wrongKind(_ text: String) -> String {
        let advice =
            "A token is a JWT: three parts with dots between them, starting with eyJ. Give the key and the "
            + "secret as LIVEKIT_API_KEY and LIVEKIT_API_SECRET instead, or make one with `agentctl token`"
        if text.hasPrefix("API") && text.count < 32 { return "an API key was given as the token. " + advice }
        if text.hasPrefix("vk_") || text.hasPrefix("sk_") || text.hasPrefix("sk-") {
            return "a project's secret key was given as the token. " + advice
        }
        if text.contains("://") { return "a URL was given as the token. " + advice }
        if text.split(separator: ".", omittingEmptySubsequences: false).count != 3 {
            return "what was given as the token is none (it may be an API key or secret). " + advice
        }
        return "the token is damaged: its parts are not base64 of JSON. Copy it again, whole"
    }

    private static let quotes = CharacterSet(charactersIn: "\"'`")

    /// Any number may stand in a token.
    private static func wholeSeconds(_ interval: TimeInterval) -> Int {
        Int(exactly: min(max(interval, -1e15), 1e15).rounded()) ?? 0
    }

    /// Seconds or a date (RFC 9110, section 10.2.3).
    private static func retryAfter(_ response: HTTPResponse) -> Duration? {
        guard let text = response.headers["Retry-After"] else { return nil }
        if let seconds = Int64(text) { return .seconds(min(max(0, seconds), 1_000_000_000)) }
        let now = response.headers["Date"].flatMap(httpDate) ?? Date()
        return httpDate(text).map { .seconds(max(0, wholeSeconds($0.timeIntervalSince(now)))) }
    }

    private static func httpDate(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text)
    }

    private static func isHTML(_ response: HTTPResponse) -> Bool {
        response.headers["Content-Type"]?.lowercased().contains("html") == true
            || response.text.drop(while: \.isWhitespace).hasPrefix("<")
    }

    private static func excerpt(_ response: HTTPResponse) -> String {
        if isHTML(response) { return "a web page" }
        let line = response.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        let text = String(line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.map(Character.init))
        return text.isEmpty ? "no reason given" : String(text.prefix(200))
    }

    /// The URL without what may hold secrets: its query and its user information.
    private static func endpoint(_ url: String) -> String {
        var shown = url.prefix { $0 != "?" && $0 != "#" }
        if let start = shown.range(of: "://")?.upperBound {
            let authority = shown[start...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") { shown.removeSubrange(start...at) }
        }
        return String(String.UnicodeScalarView(shown.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }))
    }

    private static func randomSuffix() -> String {
        String(UInt32.random(in: 0 ... .max), radix: 36)
    }
}

/// One fetch on a loop, for a caller that is elsewhere.
private actor LoopFetch {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var fetcher: TokenFetcher?

    init(loop: EventLoop) { self.loop = loop }

    func run(
        _ source: TokenSourceConfiguration, _ request: TokenRequest, _ options: WebOptions,
        _ policy: TokenFetcher.Policy
    ) async -> Result<ConnectionDetails, TokenError> {
        await withCheckedContinuation { continuation in
            let fetcher = TokenFetcher(loop: loop, options: options, policy: policy)
            self.fetcher = fetcher
            fetcher.fetch(source, request) { continuation.resume(returning: $0) }
        }
    }
}
