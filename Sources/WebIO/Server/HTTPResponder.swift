import CGLib
import CSoup
import LoopCore

/// Answers one request, now or later, confined to the loop. Dropped without an answer, it answers with 500.
public final class HTTPResponder {
    private let loop: EventLoop
    private let message: OpaquePointer
    private var isPaused = false
    private var isDone = false

    init(loop: EventLoop, message: OpaquePointer) {
        self.loop = loop
        self.message = message
        g_object_ref(gpointer(message))
        let gone: @convention(c) (OpaquePointer?, gpointer?) -> Void = { _, data in
            WeakBox<HTTPResponder>.object(data)?.isDone = true
        }
        for signal in ["finished", "disconnected"] {
            connectSignal(gpointer(message), signal, to: self, handler: unsafeBitCast(gone, to: GCallback.self))
        }
    }

    deinit {
        let (message, answer) = (message, !isDone)
        let isPaused = isPaused
        releaseOnLoop(loop) {
            if answer {
                fill(message, HTTPResponse(status: 500, text: "no answer was given"))
                if isPaused { soup_server_message_unpause(message) }
            }
            g_object_unref(gpointer(message))
        }
    }

    /// Sends the answer. Only the first call counts; harmless when the client has gone.
    public func respond(_ response: HTTPResponse) {
        guard !isDone else { return }
        isDone = true
        fill(message, response)
        if isPaused { soup_server_message_unpause(message) }
    }

    /// Drops the connection without an answer.
    public func abort() {
        guard !isDone else { return }
        isDone = true
        if let socket = soup_server_message_get_socket(message) { g_socket_shutdown(socket, 1, 1, nil) }
        soup_server_message_set_status(message, 500, nil)
        if isPaused { soup_server_message_unpause(message) }
    }

    /// After the handler: waits for the answer if it has not come yet.
    func pauseUnlessDone() {
        guard !isDone else { return }
        isPaused = true
        soup_server_message_pause(message)
    }
}

/// Puts the answer into libsoup's message.
func fill(_ message: OpaquePointer, _ response: HTTPResponse) {
    let status = (200...599).contains(response.status) ? response.status : 500
    soup_server_message_set_status(message, guint(status), nil)
    let headers = soup_server_message_get_response_headers(message)
    for field in response.headers.fields
    where !["content-type", "content-length", "connection"].contains(field.name.lowercased()) {
        soup_message_headers_append(headers, field.name, field.value)
    }
    let type = response.headers["Content-Type"] ?? "application/octet-stream"
    response.body.withUnsafeBytes { bytes in
        soup_server_message_set_response(
            message, type, SOUP_MEMORY_COPY, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            gsize(bytes.count))
    }
}
