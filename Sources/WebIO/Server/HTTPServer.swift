import CGLib
import CSoup
public import LoopCore

/// An HTTP/1.1 server with WebSockets, for loopback and trusted networks, confined to the loop. A connection serves one
/// request.
public final class HTTPServer {
    /// The port listened on (the one chosen by the system when 0 was asked for).
    public private(set) var port: UInt16 = 0

    private let loop: EventLoop
    private let options: HTTPServerOptions
    private let server: UnsafeMutablePointer<SoupServer>
    private var routes: [Route] = []
    private var socketRoutes: [String: SocketRoute] = [:]
    /// Sockets of the connections, WebSockets included; closed ones leave when the next comes.
    private var connections: [UnsafeMutablePointer<GSocket>] = []
    private var isClosed = false

    private struct Route {
        var prefix: String
        var handler: (HTTPServerRequest, HTTPResponder) -> Void

        func matches(_ path: String) -> Bool {
            guard path.hasPrefix(prefix) else { return false }
            return prefix.hasSuffix("/") || path.utf8.count == prefix.utf8.count
                || path.utf8.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/")
        }
    }

    private struct SocketRoute {
        var authorize: (HTTPServerRequest) -> HTTPResponse?
        var accept: (WebSocket, HTTPServerRequest) -> Void
    }

    /// Listens at once.
    /// - Throws: ``WebError/cannotListen(address:port:reason:)``.
    public init(
        loop: EventLoop, address: String = "127.0.0.1", port: UInt16 = 0, options: HTTPServerOptions = .init()
    ) throws(WebError) {
        loop.checkIsolated()
        self.loop = loop
        self.options = options
        guard let object = g_object_new_with_properties(soup_server_get_type(), 0, nil, nil) else {
            throw .cannotListen(address: address, port: port, reason: "the HTTP library cannot be used")
        }
        server = UnsafeMutableRawPointer(object).assumingMemoryBound(to: SoupServer.self)
        try listen(address, port)
        addHandlers()
    }

    deinit {
        let (server, isClosed, connections) = (server, isClosed, connections)
        releaseOnLoop(loop) {
            for socket in connections { g_object_unref(socket) }
            if !isClosed { soup_server_disconnect(server) }
            g_object_unref(server)
        }
    }

    /// Answers the requests whose path is `prefix` or lies below it; the longest prefix wins.
    public func handle(path prefix: String, _ handler: @escaping (HTTPServerRequest, HTTPResponder) -> Void) {
        routes.append(Route(prefix: prefix, handler: handler))
        routes.sort { $0.prefix.utf8.count > $1.prefix.utf8.count }
    }

    /// Accepts WebSocket upgrades on exactly `path`.
    /// - Parameters:
    ///   - authorize: `nil` accepts; an answer refuses and is sent instead of the upgrade.
    ///   - accept: receives the open socket; set its `onEvent` before returning, and keep it.
    public func acceptWebSockets(
        path: String, authorize: @escaping (HTTPServerRequest) -> HTTPResponse? = { _ in nil },
        accept: @escaping (WebSocket, HTTPServerRequest) -> Void
    ) {
        socketRoutes[path] = SocketRoute(authorize: authorize, accept: accept)
    }

    /// Stops listening and drops connections in the middle of a request. WebSockets already accepted live on.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        soup_server_disconnect(server)
    }

    // MARK: Listening

    private func listen(_ address: String, _ port: UInt16) throws(WebError) {
        guard let endpoint = g_inet_socket_address_new_from_string(address, guint(port)) else {
            throw .cannotListen(address: address, port: port, reason: "not an IP address")
        }
        defer { g_object_unref(endpoint) }
        var listenOptions = SoupServerListenOptions(rawValue: 0)
        var error: UnsafeMutablePointer<GError>?
        if let tls = options.tls {
            guard let certificate = g_tls_certificate_new_from_files(tls.certificateFile, tls.keyFile, &error) else {
                throw .cannotListen(
                    address: address, port: port,
                    reason: "the certificate \(tls.certificateFile) cannot be used: \(takeMessage(error))")
            }
            soup_server_set_tls_certificate(server, certificate)
            g_object_unref(certificate)
            listenOptions = SOUP_SERVER_LISTEN_HTTPS
        }
        guard soup_server_listen(server, endpoint, listenOptions, &error) != 0 else {
            throw .cannotListen(address: address, port: port, reason: takeMessage(error))
        }
        guard let uris = soup_server_get_uris(server) else { return }
        if let uri = uris.pointee.data {
            self.port = UInt16(clamping: g_uri_get_port(OpaquePointer(uri)))
        }
        g_slist_free_full(uris) { uri in if let uri { g_uri_unref(OpaquePointer(uri)) } }
    }

    private func addHandlers() {
        let request: SoupServerCallback = { _, message, _, _, data in
            guard let message, let server = WeakBox<HTTPServer>.object(data) else { return }
            server.answer(message)
        }
        soup_server_add_handler(server, nil, request, WeakBox(self).retained, releaseObject)
        let started: @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void = { _, message, data in
            guard let message, let server = WeakBox<HTTPServer>.object(data) else { return }
            // libsoup 3.2 never closes a kept connection that its client has closed.
            soup_message_headers_replace(soup_server_message_get_response_headers(message), "Connection", "close")
            RequestGuard.watch(message, options: server.options)
            server.count(message)
        }
        connectSignal(server, "request-started", to: self, handler: unsafeBitCast(started, to: GCallback.self))
    }

    /// Keeps the number of connections within the limit, and drops those that stay silent.
    private func count(_ message: OpaquePointer) {
        guard let socket = soup_server_message_get_socket(message) else { return }
        g_socket_set_timeout(socket, guint(max(1, options.idleTimeout.inSeconds.rounded(.up))))
        connections.removeAll { known in
            guard g_socket_is_closed(known) != 0 else { return false }
            g_object_unref(known)
            return true
        }
        guard !connections.contains(socket) else { return }
        guard connections.count < options.maxConnections else {
            g_socket_shutdown(socket, 1, 1, nil)
            return
        }
        g_object_ref(socket)
        connections.append(socket)
    }

    // MARK: Requests

    private func answer(_ message: OpaquePointer) {
        let request = HTTPServerRequest(message)
        guard request.method != "CONNECT" else {
            fill(message, HTTPResponse(status: 405, text: "this is no proxy"))
            return
        }
        if request.isUpgrade, let route = socketRoutes[request.path] {
            if let refusal = route.authorize(request) {
                fill(message, refusal)
            } else {
                upgrade(message, request, route)
            }
            return
        }
        guard let route = routes.first(where: { $0.matches(request.path) }) else {
            fill(message, HTTPResponse(status: 404, text: "not found"))
            return
        }
        let responder = HTTPResponder(loop: loop, message: message)
        route.handler(request, responder)
        responder.pauseUnlessDone()
    }

    private func upgrade(_ message: OpaquePointer, _ request: HTTPServerRequest, _ route: SocketRoute) {
        // libsoup adds to the field instead of replacing it, and clients refuse a handshake that also says "close".
        soup_message_headers_remove(soup_server_message_get_response_headers(message), "Connection")
        guard soup_websocket_server_process_handshake(message, nil, nil, nil, nil) != 0 else { return }
        let upgrade = Upgrade { [weak self] in
            guard let self, let socket = self.takeOver(message) else { return }
            route.accept(socket, request)
        }
        let wrote: @convention(c) (OpaquePointer?, gpointer?) -> Void = { _, data in
            guard let data else { return }
            // Run once: the connection is no longer libsoup's afterwards.
            Unmanaged<Upgrade>.fromOpaque(data).takeUnretainedValue().run()
        }
        g_signal_connect_data(
            gpointer(message), "wrote-informational", unsafeBitCast(wrote, to: GCallback.self),
            Unmanaged.passRetained(upgrade).toOpaque(), releaseSignalData, GConnectFlags(rawValue: 0))
    }

    private func takeOver(_ message: OpaquePointer) -> WebSocket? {
        g_object_ref(gpointer(message))
        defer { g_object_unref(gpointer(message)) }
        let socket = soup_server_message_get_socket(message)
        if let socket {
            g_socket_set_timeout(socket, 0)
            sendWithoutDelay(socket)
            g_object_ref(socket)
        }
        defer { if let socket { g_object_unref(socket) } }
        let host = soup_server_message_get_remote_host(message).map { String(cString: $0) } ?? "the client"
        guard let stream = soup_server_message_steal_connection(message) else { return nil }
        var settings = WebOptions()
        settings.maxMessageSize = options.maxMessageSize
        settings.maxBufferedAmount = options.maxBufferedAmount
        settings.keepaliveInterval = options.keepaliveInterval
        settings.keepaliveTimeout = options.keepaliveTimeout
        let bytes = ByteStream(
            loop: loop, taking: stream, socket: options.tls == nil ? socket : nil,
            maxBufferedAmount: options.maxBufferedAmount)
        return WebSocket(accepting: bytes, loop: loop, options: settings, host: host)
    }
}

/// What is left to do once the 101 has been written.
private final class Upgrade {
    private var body: (() -> Void)?

    init(_ body: @escaping () -> Void) {
        self.body = body
    }

    func run() {
        let body = body
        self.body = nil
        body?()
    }
}
