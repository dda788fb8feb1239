import CGLib
import LoopCore

/// Opens one connection: name look-up, proxy, TCP, TLS. Confined to the loop. Dropping it cancels.
final class SocketConnector {
    private let loop: EventLoop
    private let url: WebURL
    private let options: WebOptions
    private var completion: ((Result<ByteStream, WebError>) -> Void)?
    private var client: UnsafeMutablePointer<GSocketClient>?
    private let cancellable = g_cancellable_new()
    private var database: UnsafeMutablePointer<GTlsDatabase>?
    private var certificate: GTlsCertificateFlags?

    init(loop: EventLoop, url: WebURL, options: WebOptions) {
        self.loop = loop
        self.url = url
        self.options = options
    }

    deinit {
        completion = nil
        let (client, cancellable, database) = (client, cancellable, database)
        releaseOnLoop(loop) {
            if let cancellable {
                g_cancellable_cancel(cancellable)
                g_object_unref(cancellable)
            }
            if let client { g_object_unref(client) }
            if let database { g_object_unref(database) }
        }
    }

    /// Calls `completion` once, from the loop, unless this object goes before.
    func start(_ completion: @escaping (Result<ByteStream, WebError>) -> Void) throws(WebError) {
        loop.checkIsolated()
        guard let client = g_socket_client_new() else { throw .other("no socket can be made") }
        self.client = client
        if let caFile = options.caFile, url.isSecure { database = try TLSTrust.database(caFile: caFile) }
        self.completion = completion
        g_socket_client_set_tls(client, url.isSecure ? 1 : 0)
        g_socket_client_set_enable_proxy(client, url.isLoopback ? 0 : 1)
        if url.isSecure { watchTLS(client) }
        // The call holds the client; this object may go before it is over.
        let callback = AsyncCallback { [weak self] result in
            var error: UnsafeMutablePointer<GError>?
            let connection = g_socket_client_connect_to_uri_finish(client, result, &error)
            g_object_unref(client)
            if let self {
                self.connected(connection, error)
            } else {
                if let connection { g_object_unref(connection) }
                if let error { g_error_free(error) }
            }
        }
        g_object_ref(client)
        g_socket_client_connect_to_uri_async(
            client, url.origin, url.port, cancellable, AsyncCallback.function, callback.retained)
    }

    private func connected(
        _ connection: UnsafeMutablePointer<GSocketConnection>?, _ error: UnsafeMutablePointer<GError>?
    ) {
        guard let completion else {
            if let connection { g_object_unref(connection) }
            if let error { g_error_free(error) }
            return
        }
        self.completion = nil
        guard let connection else {
            completion(
                .failure(
                    WebError(
                        taking: error, url: url, certificate: certificate, during: "while the connection was made")))
            return
        }
        let socket = g_socket_connection_get_socket(connection)
        sendWithoutDelay(socket)
        let stream = UnsafeMutableRawPointer(connection).assumingMemoryBound(to: GIOStream.self)
        completion(
            .success(
                ByteStream(
                    loop: loop, taking: stream, socket: url.isSecure ? nil : socket,
                    maxBufferedAmount: options.maxBufferedAmount)))
    }

    // MARK: TLS

    private func watchTLS(_ client: UnsafeMutablePointer<GSocketClient>) {
        let event:
            @convention(c) (
                OpaquePointer?, GSocketClientEvent, OpaquePointer?, UnsafeMutableRawPointer?, gpointer?
            ) -> Void = { _, event, _, connection, data in
                guard event == G_SOCKET_CLIENT_TLS_HANDSHAKING, let connection,
                    let connector = WeakBox<SocketConnector>.object(data)
                else { return }
                connector.prepare(connection)
            }
        connectSignal(client, "event", to: self, handler: unsafeBitCast(event, to: GCallback.self))
    }

    private func prepare(_ connection: UnsafeMutableRawPointer) {
        if let database {
            g_tls_connection_set_database(connection.assumingMemoryBound(to: GTlsConnection.self), database)
        }
        let accept:
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<GTlsCertificate>?, GTlsCertificateFlags, gpointer?
            ) -> gboolean = { _, _, flags, data in
                guard let connector = WeakBox<SocketConnector>.object(data) else { return 0 }
                connector.certificate = flags
                return connector.options.tlsVerification ? 0 : 1
            }
        connectSignal(connection, "accept-certificate", to: self, handler: unsafeBitCast(accept, to: GCallback.self))
    }
}
