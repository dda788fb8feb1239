import Foundation
import LoopCore
import WebIO

/// Clients and servers on one loop, for tests.
actor Web {
    nonisolated let loop = EventLoop(name: "web-tests")
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var servers: [HTTPServer] = []
    private var clients: [HTTPClient] = []
    private var sockets: [Socket] = []

    deinit {
        loop.stop()
    }

    // MARK: HTTP

    func fetch(
        _ request: HTTPRequest, options: WebOptions = .init(), timeout: Duration = .seconds(10)
    ) async -> Result<HTTPResponse, WebError> {
        let client = HTTPClient(loop: loop, options: options)
        clients.append(client)
        return await withCheckedContinuation { continuation in
            client.send(request, timeout: timeout) { continuation.resume(returning: $0) }
        }
    }

    func get(
        _ url: String, options: WebOptions = .init(), timeout: Duration = .seconds(10)
    ) async -> Result<HTTPResponse, WebError> {
        await fetch(HTTPRequest(url: url), options: options, timeout: timeout)
    }

    /// Two exchanges of one client, one after the other.
    func getTwice(_ url: String, options: WebOptions) async -> [Result<HTTPResponse, WebError>] {
        let client = HTTPClient(loop: loop, options: options)
        var results: [Result<HTTPResponse, WebError>] = []
        for _ in 0..<2 {
            let result = await withCheckedContinuation { continuation in
                client.send(HTTPRequest(url: url), timeout: .seconds(10)) { continuation.resume(returning: $0) }
            }
            results.append(result)
        }
        return results
    }

    func fetchAndCancel(_ url: String) async -> Result<HTTPResponse, WebError> {
        let client = HTTPClient(loop: loop)
        return await withCheckedContinuation { continuation in
            let call = client.send(HTTPRequest(url: url), timeout: .seconds(10)) { continuation.resume(returning: $0) }
            call.cancel()
            call.cancel()
        }
    }

    /// A server whose routes are added by `configure`.
    /// - Returns: its port.
    func serve(
        address: String = "127.0.0.1", port: UInt16 = 0, options: HTTPServerOptions = .init(),
        _ configure: @Sendable (HTTPServer, isolated Web) -> Void
    ) throws -> UInt16 {
        let server = try HTTPServer(loop: loop, address: address, port: port, options: options)
        configure(server, self)
        servers.append(server)
        return server.port
    }

    /// A server that answers every request alike.
    func serve(_ response: HTTPResponse) throws -> UInt16 {
        try serve { server, _ in
            server.handle(path: "/") { _, responder in responder.respond(response) }
        }
    }

    func closeServers() {
        for server in servers { server.close() }
        servers = []
    }

    private var held: [HTTPResponder] = []

    /// A server that answers when ``respondHeld(_:)`` is called.
    func serveLater() throws -> UInt16 {
        try serve { server, web in web.holdRequests(of: server) }
    }

    private func holdRequests(of server: HTTPServer) {
        server.handle(path: "/") { [self] _, responder in held.append(responder) }
    }

    func releaseHeld() {
        held = []
    }

    func respondHeld(_ response: HTTPResponse) {
        for responder in held { responder.respond(response) }
    }

    var heldCount: Int { held.count }

    // MARK: WebSocket

    func connect(
        _ url: String, headers: HTTPHeaders = .init(), options: WebOptions = .init()
    ) -> Socket {
        let (events, continuation) = AsyncStream.makeStream(of: WebSocket.Event.self)
        let webSocket = WebSocket.connect(loop: loop, url: url, headers: headers, options: options) {
            continuation.yield($0)
        }
        let socket = Socket(webSocket: webSocket, events: events, continuation: continuation)
        sockets.append(socket)
        return socket
    }

    /// A WebSocket server that sends back what it receives.
    func serveEcho(options: HTTPServerOptions = .init()) throws -> UInt16 {
        try serve(options: options) { server, web in web.echo(on: server) }
    }

    private func echo(on server: HTTPServer) {
        server.acceptWebSockets(path: "/echo") { [self] socket, _ in
            accepted.append(socket)
            socket.onEvent = { [self, weak socket] event in
                switch event {
                case .binary(let bytes): socket?.send(binary: bytes)
                case .text(let text): socket?.send(text: text)
                default: serverEvents.append(event)
                }
            }
        }
    }

    private var accepted: [WebSocket] = []
    private(set) var serverEvents: [WebSocket.Event] = []

    func closeAccepted(_ code: Int, _ reason: String) {
        for socket in accepted { socket.close(code: code, reason: reason) }
    }

    /// The first event of an accepted socket other than a message; `nil` when none comes within 5 s.
    func serverEvent() async -> WebSocket.Event? {
        for _ in 0..<500 where serverEvents.isEmpty { try? await Task.sleep(for: .milliseconds(10)) }
        return serverEvents.first
    }

    func send(_ bytes: [UInt8], on socket: Socket) { socket.webSocket.send(binary: bytes) }
    func send(_ text: String, on socket: Socket) { socket.webSocket.send(text: text) }
    func close(_ socket: Socket, _ code: Int = 1000, _ reason: String = "") {
        socket.webSocket.close(code: code, reason: reason)
    }
    /// Keeps the loop from doing anything.
    func stall(seconds: Double) { Thread.sleep(forTimeInterval: seconds) }
    func abort(_ socket: Socket) { socket.webSocket.abort() }
}

/// A client's socket and its events, in order.
// @unchecked: `webSocket` is used by the `Web` actor alone, `iterator` by one test.
final class Socket: @unchecked Sendable {
    fileprivate let webSocket: WebSocket
    private let continuation: AsyncStream<WebSocket.Event>.Continuation
    private var iterator: AsyncStream<WebSocket.Event>.AsyncIterator

    init(
        webSocket: WebSocket, events: AsyncStream<WebSocket.Event>,
        continuation: AsyncStream<WebSocket.Event>.Continuation
    ) {
        self.webSocket = webSocket
        self.continuation = continuation
        iterator = events.makeAsyncIterator()
    }

    /// The next event; `nil` when none came within 15 s.
    func next() async -> WebSocket.Event? {
        let timeout = Task { [continuation] in
            try await Task.sleep(for: .seconds(15))
            continuation.finish()
        }
        defer { timeout.cancel() }
        return await iterator.next(isolation: nil)
    }
}

extension Result where Success == HTTPResponse, Failure == WebError {
    var error: WebError? {
        if case .failure(let error) = self { error } else { nil }
    }

    var response: HTTPResponse? {
        if case .success(let response) = self { response } else { nil }
    }
}

extension WebSocket.Event {
    var failure: WebError? {
        if case .failed(let error) = self { error } else { nil }
    }
}
