import CGLib
import CSoup
import LoopCore

/// A request in flight, confined to the loop. It goes on when the reference is dropped.
public final class HTTPCall {
    private let loop: EventLoop
    private let options: WebOptions
    private var completion: ((Result<HTTPResponse, WebError>) -> Void)?
    private var url: WebURL?
    private var session: UnsafeMutablePointer<SoupSession>?
    private var message: OpaquePointer?
    private var cancellable: UnsafeMutablePointer<GCancellable>?
    private var deadline: LoopTimer?
    private var connectDeadline: LoopTimer?
    private var certificate: GTlsCertificateFlags?
    private var response = HTTPResponse(status: 0)

    init(
        loop: EventLoop, options: WebOptions, completion: @escaping (Result<HTTPResponse, WebError>) -> Void
    ) {
        self.loop = loop
        self.options = options
        self.completion = completion
    }

    deinit {
        release()
    }

    /// Ends the call: its completion receives ``WebError/cancelled``. Harmless when the call is over.
    public func cancel() {
        fail(later: .cancelled)
    }

    func fail(later error: WebError) {
        guard completion != nil else { return }
        connectDeadline = nil
        // Strong: the call lives until it has completed.
        deadline = loop.schedule(after: .zero) { self.finish(.failure(error)) }
    }

    func start(
        _ request: HTTPRequest, url: WebURL, session: UnsafeMutablePointer<SoupSession>, timeout: Duration
    ) {
        self.url = url
        guard let message = soup_message_new(request.method, url.httpURL), let cancellable = g_cancellable_new() else {
            fail(later: .invalidURL("\"\(WebURL.redacted(request.url))\" cannot be requested"))
            return
        }
        g_object_ref(session)
        self.session = session
        self.message = message
        self.cancellable = cancellable
        fill(message, from: request)
        watch(message)
        deadline = loop.schedule(after: timeout) {
            self.finish(.failure(.timedOut("the answer of \(url.host)", after: timeout)))
        }
        if options.connectTimeout < timeout {
            connectDeadline = loop.schedule(after: options.connectTimeout) { [options] in
                self.finish(.failure(.timedOut("connecting to \(url.host)", after: options.connectTimeout)))
            }
        }
        let callback = AsyncCallback { result in self.answered(result) }
        soup_session_send_async(
            session, message, G_PRIORITY_DEFAULT, cancellable, AsyncCallback.function, callback.retained)
    }

    private func fill(_ message: OpaquePointer, from request: HTTPRequest) {
        soup_message_set_flags(message, SOUP_MESSAGE_NO_REDIRECT)
        if !request.body.isEmpty || request.method == "POST" || request.method == "PUT" {
            let bytes = g_bytes_new(request.body, gsize(request.body.count))
            soup_message_set_request_body_from_bytes(message, request.headers["Content-Type"], bytes)
            g_bytes_unref(bytes)
        }
        let headers = soup_message_get_request_headers(message)
        for field in request.headers.fields where !field.name.equalsIgnoringCase("Content-Type") {
            if field.name.equalsIgnoringCase("User-Agent") {
                soup_message_headers_replace(headers, field.name, field.value)
            } else {
                soup_message_headers_append(headers, field.name, field.value)
            }
        }
    }

    private func watch(_ message: OpaquePointer) {
        let instance = gpointer(message)
        let starting: @convention(c) (OpaquePointer?, gpointer?) -> Void = { _, data in
            WeakBox<HTTPCall>.object(data)?.connectDeadline = nil
        }
        connectSignal(instance, "starting", to: self, handler: unsafeBitCast(starting, to: GCallback.self))
        let accept:
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<GTlsCertificate>?, GTlsCertificateFlags, gpointer?
            ) -> gboolean = { _, _, flags, data in
                guard let call = WeakBox<HTTPCall>.object(data) else { return 0 }
                call.certificate = flags
                return call.options.tlsVerification ? 0 : 1
            }
        connectSignal(instance, "accept-certificate", to: self, handler: unsafeBitCast(accept, to: GCallback.self))
    }

    private func answered(_ result: OpaquePointer) {
        guard let session, let message, completion != nil else { return }
        var error: UnsafeMutablePointer<GError>?
        guard let stream = soup_session_send_finish(session, result, &error) else {
            fail(taking: error, during: "before it answered")
            return
        }
        defer { g_object_unref(stream) }
        response.status = Int(soup_message_get_status(message).rawValue)
        if url?.isSecure == true, soup_message_get_tls_peer_certificate(message) == nil {
            // Nothing was encrypted: it is what a proxy said to CONNECT.
            finish(.failure(.proxy(reason: "it answered CONNECT with status \(response.status)")))
            return
        }
        let headers = soup_message_get_response_headers(message)
        response.headers = HTTPHeaders(headers)
        if soup_message_headers_get_content_length(headers) > Int64(options.maxBodySize) {
            finish(.failure(.tooLarge(limit: options.maxBodySize)))
            return
        }
        read(stream)
    }

    private func read(_ stream: UnsafeMutablePointer<GInputStream>) {
        g_object_ref(stream)
        let callback = AsyncCallback { result in
            defer { g_object_unref(stream) }
            guard self.completion != nil else { return }
            var error: UnsafeMutablePointer<GError>?
            guard let bytes = g_input_stream_read_bytes_finish(stream, result, &error) else {
                self.fail(taking: error, during: "in the middle of its answer")
                return
            }
            let chunk = takeBytes(bytes)
            if chunk.isEmpty {
                self.finish(.success(self.response))
            } else if chunk.count > self.options.maxBodySize - self.response.body.count {
                self.finish(.failure(.tooLarge(limit: self.options.maxBodySize)))
            } else {
                self.response.body += chunk
                self.read(stream)
            }
        }
        g_input_stream_read_bytes_async(
            stream, 64 << 10, G_PRIORITY_DEFAULT, cancellable, AsyncCallback.function, callback.retained)
    }

    private func fail(taking error: UnsafeMutablePointer<GError>?, during: String) {
        guard let url else { return }
        finish(.failure(WebError(taking: error, url: url, certificate: certificate, during: during)))
    }

    private func finish(_ result: Result<HTTPResponse, WebError>) {
        guard let completion else { return }
        self.completion = nil
        deadline = nil
        connectDeadline = nil
        if case .failure = result, let cancellable { g_cancellable_cancel(cancellable) }
        completion(result)
        release()
    }

    private func release() {
        guard let session, let message, let cancellable else { return }
        self.session = nil
        self.message = nil
        self.cancellable = nil
        releaseOnLoop(loop) {
            g_object_unref(gpointer(message))
            g_object_unref(cancellable)
            g_object_unref(session)
        }
    }
}

extension HTTPHeaders {
    /// The fields that libsoup holds.
    init(_ headers: OpaquePointer?) {
        self.init()
        guard let headers else { return }
        var iterator = SoupMessageHeadersIter()
        soup_message_headers_iter_init(&iterator, headers)
        var name: UnsafePointer<CChar>?
        var value: UnsafePointer<CChar>?
        while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
            if let name, let value { add(String(cString: name), String(cString: value)) }
        }
    }
}
