import CGLib
import CSoup

/// Keeps a request's body within the server's limit: what is beyond it is read and thrown away, and answered with 413.
final class RequestGuard {
    private let limit: Int
    private var received = 0
    private var isExceeded = false

    private init(limit: Int) {
        self.limit = limit
    }

    static func watch(_ message: OpaquePointer, options: HTTPServerOptions) {
        let guardian = RequestGuard(limit: options.maxBodySize)
        let headers: @convention(c) (OpaquePointer?, gpointer?) -> Void = { message, data in
            guard let message else { return }
            let length = soup_message_headers_get_content_length(soup_server_message_get_request_headers(message))
            RequestGuard.of(data)?.check(message, soFar: Int(clamping: length))
        }
        let chunk: @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void = { message, bytes, data in
            guard let message, let bytes, let guardian = RequestGuard.of(data) else { return }
            guardian.received += Int(clamping: g_bytes_get_size(bytes))
            guardian.check(message, soFar: guardian.received)
            // Whoever sends that much more does not listen to an answer.
            if guardian.received / 4 > guardian.limit, let socket = soup_server_message_get_socket(message) {
                g_socket_shutdown(socket, 1, 1, nil)
            }
        }
        connect(message, "got-headers", guardian, unsafeBitCast(headers, to: GCallback.self))
        connect(message, "got-chunk", guardian, unsafeBitCast(chunk, to: GCallback.self))
    }

    private static func connect(
        _ message: OpaquePointer, _ signal: String, _ guardian: RequestGuard, _ handler: GCallback
    ) {
        g_signal_connect_data(
            gpointer(message), signal, handler, Unmanaged.passRetained(guardian).toOpaque(), releaseSignalData,
            GConnectFlags(rawValue: 0))
    }

    private static func of(_ data: gpointer?) -> RequestGuard? {
        data.map { Unmanaged<RequestGuard>.fromOpaque($0).takeUnretainedValue() }
    }

    private func check(_ message: OpaquePointer, soFar: Int) {
        guard soFar > limit, !isExceeded else { return }
        isExceeded = true
        let body = soup_server_message_get_request_body(message)
        soup_message_body_set_accumulate(body, 0)
        soup_message_body_truncate(body)
        fill(message, HTTPResponse(status: 413, text: "the body is larger than \(limit) bytes"))
    }
}
