import CGLib

/// TLS to a TURN server (`turns:`, RFC 8656 section 2.1), which libnice does not speak: it is given a port of
/// 127.0.0.1 as a TURN server over TCP, and whatever connects there is connected on to the real server over TLS.
///
/// Other programs of this machine could connect to the port as well; without TURN credentials that is of no use.
/// Confined to the loop.
final class TURNTLSTunnel {
    /// Connections at once: one for each local address that libnice gathers on, and some that are just closing.
    static let maxConnections = 32

    /// The port on 127.0.0.1.
    let port: UInt16

    private let host: String
    private let serverPort: UInt16
    private let service: UnsafeMutablePointer<GSocketService>
    private let cancellable: UnsafeMutablePointer<GCancellable>?
    private let authorities: UnsafeMutablePointer<GTlsDatabase>?
    private var connections = 0

    /// A connection on its way to the server. It keeps what it needs, so that it may outlive the tunnel.
    private final class Dial {
        weak var tunnel: TURNTLSTunnel?
        let local: UnsafeMutablePointer<GSocketConnection>
        let cancellable: UnsafeMutablePointer<GCancellable>?

        init(_ tunnel: TURNTLSTunnel, local: UnsafeMutablePointer<GSocketConnection>) {
            self.tunnel = tunnel
            self.local = local
            cancellable = tunnel.cancellable
            g_object_ref(local)
            if let cancellable { g_object_ref(cancellable) }
        }

        deinit {
            g_object_unref(local)
            if let cancellable { g_object_unref(cancellable) }
        }
    }

    /// Nil when no local port can be opened, or the authorities cannot be read.
    /// - Parameters:
    ///   - host: the server's name, which its certificate has to carry, or its address.
    ///   - authoritiesFile: a PEM file of the authorities to trust; nil for those of the system.
    init?(host: String, port serverPort: UInt16, authoritiesFile: String?) {
        var database: UnsafeMutablePointer<GTlsDatabase>?
        if let authoritiesFile {
            database = OpaquePointer(g_tls_file_database_new(authoritiesFile, nil)).map { UnsafeMutablePointer($0) }
            guard database != nil else { return nil }
        }
        guard let service = g_socket_service_new() else { return nil }
        let loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4)
        let address = g_inet_socket_address_new(loopback, 0)
        g_object_unref(loopback)
        var bound: UnsafeMutablePointer<GSocketAddress>?
        let isBound = service.withMemoryRebound(to: GSocketListener.self, capacity: 1) {
            g_socket_listener_add_address($0, address, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, nil, &bound, nil)
        }
        g_object_unref(address)
        guard isBound != 0, let bound else {
            g_object_unref(service)
            if let database { g_object_unref(database) }
            return nil
        }
        port = bound.withMemoryRebound(to: GInetSocketAddress.self, capacity: 1) { g_inet_socket_address_get_port($0) }
        g_object_unref(bound)
        self.host = host
        self.serverPort = serverPort
        self.service = service
        authorities = database
        cancellable = g_cancellable_new()
        acceptConnections()
    }

    deinit {
        // Unretained pointers to this object go with the signal handlers.
        g_signal_handlers_disconnect_matched(
            service, G_SIGNAL_MATCH_DATA, 0, 0, nil, nil, Unmanaged.passUnretained(self).toOpaque())
        g_cancellable_cancel(cancellable)
        g_socket_service_stop(service)
        service.withMemoryRebound(to: GSocketListener.self, capacity: 1) { g_socket_listener_close($0) }
        g_object_unref(service)
        g_object_unref(cancellable)
        if let authorities { g_object_unref(authorities) }
    }

    private func acceptConnections() {
        typealias Incoming =
            @convention(c) (gpointer?, UnsafeMutablePointer<GSocketConnection>?, gpointer?, gpointer?) -> gboolean
        let onIncoming: Incoming = { _, connection, _, this in
            guard let connection, let this else { return 0 }
            Unmanaged<TURNTLSTunnel>.fromOpaque(this).takeUnretainedValue().dial(for: connection)
            return 1
        }
        g_signal_connect_data(
            service, "incoming", unsafeBitCast(onIncoming, to: GCallback.self),
            Unmanaged.passUnretained(self).toOpaque(), nil, GConnectFlags(rawValue: 0))
        g_socket_service_start(service)
    }

    private func dial(for local: UnsafeMutablePointer<GSocketConnection>) {
        guard connections < Self.maxConnections, let client = g_socket_client_new() else { return }
        connections += 1
        g_socket_client_set_tls(client, 1)
        g_socket_client_set_timeout(client, 15)
        if let authorities { Self.trust(authorities, client) }
        g_socket_client_connect_to_host_async(
            client, host, serverPort, cancellable,
            { client, result, data in
                guard let client, let data else { return }
                // Balances passRetained below; GLib calls back exactly once.
                let dial = Unmanaged<Dial>.fromOpaque(data).takeRetainedValue()
                let remote = UnsafeMutableRawPointer(client).withMemoryRebound(to: GSocketClient.self, capacity: 1) {
                    g_socket_client_connect_to_host_finish($0, result, nil)
                }
                guard let remote else {
                    dial.tunnel?.connections -= 1
                    return
                }
                // Lasts beyond the handshake: a relayed connection may be silent for minutes.
                g_socket_set_timeout(g_socket_connection_get_socket(remote), 0)
                TURNTLSTunnel.join(dial, remote)
                g_object_unref(remote)
            }, Unmanaged.passRetained(Dial(self, local: local)).toOpaque())
        g_object_unref(client)
    }

    /// Copies bytes both ways until either end closes; GLib holds both connections until then.
    private static func join(_ dial: Dial, _ remote: UnsafeMutablePointer<GSocketConnection>) {
        let flags = GIOStreamSpliceFlags(
            rawValue: G_IO_STREAM_SPLICE_CLOSE_STREAM1.rawValue | G_IO_STREAM_SPLICE_CLOSE_STREAM2.rawValue)
        g_io_stream_splice_async(
            UnsafeMutableRawPointer(dial.local).assumingMemoryBound(to: GIOStream.self),
            UnsafeMutableRawPointer(remote).assumingMemoryBound(to: GIOStream.self), flags, G_PRIORITY_DEFAULT,
            dial.cancellable,
            { _, result, data in
                guard let data else { return }
                let dial = Unmanaged<Dial>.fromOpaque(data).takeRetainedValue()
                g_io_stream_splice_finish(result, nil)
                dial.tunnel?.connections -= 1
            }, Unmanaged.passRetained(dial).toOpaque())
    }

    /// Has the client check certificates against the authorities given.
    private static func trust(
        _ authorities: UnsafeMutablePointer<GTlsDatabase>, _ client: UnsafeMutablePointer<GSocketClient>
    ) {
        typealias OnEvent = @convention(c) (gpointer?, GSocketClientEvent, gpointer?, gpointer?, gpointer?) -> Void
        let onEvent: OnEvent = { _, event, _, connection, authorities in
            guard event == G_SOCKET_CLIENT_TLS_HANDSHAKING, let connection, let authorities else { return }
            g_tls_connection_set_database(
                connection.assumingMemoryBound(to: GTlsConnection.self),
                authorities.assumingMemoryBound(to: GTlsDatabase.self))
        }
        g_signal_connect_data(
            client, "event", unsafeBitCast(onEvent, to: GCallback.self), g_object_ref(authorities),
            { authorities, _ in g_object_unref(authorities) }, GConnectFlags(rawValue: 0))
    }
}
