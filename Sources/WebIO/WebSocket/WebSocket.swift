import CGLib
public import LoopCore

/// One WebSocket (RFC 6455), of a client or of an ``HTTPServer``, confined to the loop. Dropping it aborts it, unless
/// it is closing. Extensions (compression) are neither offered nor accepted.
public final class WebSocket {
    /// What happened; `closed` or `failed` comes exactly once, last.
    public enum Event: Sendable {
        /// The handshake is done (client only); the server's headers.
        case opened(HTTPHeaders)
        case binary([UInt8])
        case text(String)
        /// Closed in order. The peer's code, 1005 when its close frame had none, or our own when it did not answer.
        case closed(code: Int, reason: String)
        /// Anything else; ``WebError/handshake(_:)`` holds the server's answer when it refused to upgrade.
        case failed(WebError)
    }

    /// Called on the loop, never from inside a call to this object.
    public var onEvent: ((Event) -> Void)?

    private enum State {
        case connecting
        case handshaking(WebSocketHandshake)
        case open
        case closing(code: Int, reason: String)
        case done
    }

    private let loop: EventLoop
    private let options: WebOptions
    private let host: String
    private let isClient: Bool
    private var state = State.connecting
    private var connector: SocketConnector?
    private var stream: ByteStream?
    private var parser: WebSocketParser
    private var timer: LoopTimer?
    private var keepalive: LoopTimer?
    /// When the first ping was sent that nothing was heard after.
    private var unansweredPing: MonotonicTime?
    /// Holds this object while it closes.
    private var selfReference: WebSocket?

    private init(loop: EventLoop, options: WebOptions, host: String, isClient: Bool) {
        self.loop = loop
        self.options = options
        self.host = host
        self.isClient = isClient
        parser = WebSocketParser(maxMessageSize: options.maxMessageSize, expectsMask: !isClient)
    }

    // MARK: Opening

    /// Connects to a `ws` or `wss` URL (`http` and `https` are taken as well). Redirects are not followed.
    public static func connect(
        loop: EventLoop, url: String, headers: HTTPHeaders = .init(), options: WebOptions = .init(),
        onEvent: @escaping (Event) -> Void
    ) -> WebSocket {
        loop.checkIsolated()
        do throws(WebError) {
            let url = try WebURL(url)
            let socket = WebSocket(loop: loop, options: options, host: url.host, isClient: true)
            socket.onEvent = onEvent
            socket.start(url, headers)
            return socket
        } catch {
            let socket = WebSocket(loop: loop, options: options, host: "", isClient: true)
            socket.onEvent = onEvent
            socket.fail(later: error)
            return socket
        }
    }

    /// The server's side, after the handshake.
    init(accepting stream: ByteStream, loop: EventLoop, options: WebOptions, host: String) {
        self.loop = loop
        self.options = options
        self.host = host
        isClient = false
        parser = WebSocketParser(maxMessageSize: options.maxMessageSize, expectsMask: true)
        state = .open
        run(stream)
        startKeepalive()
    }

    private func start(_ url: WebURL, _ headers: HTTPHeaders) {
        if let problem = headers.invalidField {
            fail(later: .other(problem))
            return
        }
        let limit = options.connectTimeout
        timer = loop.schedule(after: limit) { [weak self] in
            guard let self else { return }
            if case .handshaking(let handshake) = self.state, case .refused(let response)? = handshake.end() {
                self.finish(.failed(.handshake(response)))
            } else {
                self.finish(.failed(.timedOut("connecting to \(url.host) port \(url.port)", after: limit)))
            }
        }
        let connector = SocketConnector(loop: loop, url: url, options: options)
        self.connector = connector
        do throws(WebError) {
            try connector.start { [weak self] result in
                self?.connected(result, url, headers)
            }
        } catch {
            fail(later: error)
        }
    }

    private func connected(_ result: Result<ByteStream, WebError>, _ url: WebURL, _ headers: HTTPHeaders) {
        guard case .connecting = state else { return }
        switch result {
        case .failure(let error):
            finish(.failed(error))
        case .success(let stream):
            let handshake = WebSocketHandshake(nonce: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
            state = .handshaking(handshake)
            run(stream)
            stream.write(handshake.request(url, headers: headers, userAgent: options.userAgent))
        }
    }

    private func run(_ stream: ByteStream) {
        self.stream = stream
        stream.onBytes = { [weak self] in self?.receive($0) }
        stream.onEnd = { [weak self] in self?.ended($0) }
        stream.start()
    }

    // MARK: Sending

    /// Queues a message. Ignored before `opened` and once closing.
    public func send(binary: [UInt8]) {
        send(.binary, binary)
    }

    /// Queues a message. Ignored before `opened` and once closing.
    public func send(text: String) {
        send(.text, Array(text.utf8))
    }

    /// Bytes queued and not yet taken by the operating system.
    public var bufferedAmount: Int { stream?.bufferedAmount ?? 0 }

    private func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        guard case .open = state else { return }
        write(opcode, payload)
    }

    private func write(_ opcode: WebSocketOpcode, _ payload: [UInt8]) {
        let mask = isClient ? UInt32.random(in: .min ... .max) : nil
        stream?.write(WebSocketFrame.encode(opcode, payload, mask: mask))
    }

    // MARK: Closing

    /// Sends a close frame after what is queued; `closed` follows within `closeTimeout`. Before `opened` it cancels.
    /// - Parameters:
    ///   - code: 1000...1003, 1007...1014 or 3000...4999 (RFC 6455, section 7.4); any other sends none.
    ///   - reason: at most 123 bytes are sent.
    public func close(code: Int = 1000, reason: String = "") {
        switch state {
        case .connecting, .handshaking:
            fail(later: .cancelled)
        case .open:
            write(.close, WebSocketFrame.closePayload(code: code, reason: reason))
            state = .closing(code: code, reason: reason)
            selfReference = self
            keepalive = nil
            timer = loop.schedule(after: options.closeTimeout) { [weak self] in
                self?.finish(.closed(code: code, reason: reason))
            }
        case .closing, .done:
            break
        }
    }

    /// Drops the connection without a close frame. No event follows.
    public func abort() {
        state = .done
        onEvent = nil
        tearDown()
    }

    private func fail(later error: WebError) {
        connector = nil
        selfReference = self
        timer = loop.schedule(after: .zero) { [weak self] in self?.finish(.failed(error)) }
    }

    /// - Parameter lingering: whether what has been queued (a close frame) shall still be sent.
    private func finish(_ event: Event, lingering: Bool = false) {
        if case .done = state { return }
        state = .done
        let handler = onEvent
        onEvent = nil
        if lingering { stream?.closeWhenDrained(within: options.closeTimeout) } else { stream?.close() }
        withExtendedLifetime(self) {
            tearDown()
            handler?(event)
        }
    }

    private func tearDown() {
        timer = nil
        keepalive = nil
        connector = nil
        stream?.onBytes = nil
        stream?.onEnd = nil
        // A stream that lingers holds itself.
        stream = nil
        selfReference = nil
    }

    // MARK: Receiving

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        unansweredPing = nil
        switch state {
        case .handshaking(var handshake):
            // Taken out of the state first, so that its buffer is not copied.
            state = .connecting
            do throws(WebSocketHandshake.Failure) {
                let outcome = try handshake.receive(bytes)
                state = .handshaking(handshake)
                if let outcome { shakenHands(outcome) }
            } catch {
                finish(.failed(.malformed("\(host): \(error.reason)")))
            }
        case .open, .closing:
            parser.append(bytes)
            parse()
        case .connecting, .done:
            break
        }
    }

    private func shakenHands(_ outcome: WebSocketHandshake.Outcome) {
        switch outcome {
        case .refused(let response):
            finish(.failed(.handshake(response)))
        case .accepted(let headers, let rest):
            state = .open
            timer = nil
            startKeepalive()
            parser.append(rest)
            onEvent?(.opened(headers))
            parse()
        }
    }

    private func parse() {
        while true {
            if case .done = state { return }
            do throws(WebSocketParser.Failure) {
                guard let output = try parser.next() else { return }
                handle(output)
            } catch {
                if case .open = state { write(.close, WebSocketFrame.closePayload(code: error.code, reason: "")) }
                finish(
                    .failed(error.isTooLarge ? .tooLarge(limit: options.maxMessageSize) : .malformed(error.reason)),
                    lingering: true)
                return
            }
        }
    }

    private func handle(_ output: WebSocketParser.Output) {
        switch output {
        case .text(let text):
            if case .open = state { onEvent?(.text(text)) }
        case .binary(let bytes):
            if case .open = state { onEvent?(.binary(bytes)) }
        case .ping(let payload):
            if case .open = state { write(.pong, payload) }
        case .pong:
            break
        case .close(let code, let reason):
            if case .open = state { write(.close, WebSocketFrame.closePayload(code: code, reason: "")) }
            finish(.closed(code: code, reason: reason), lingering: true)
        }
    }

    private func ended(_ end: ByteStream.End) {
        switch (state, end) {
        case (.closing(let code, let reason), _):
            finish(.closed(code: code, reason: reason))
        case (.handshaking(let handshake), .endOfStream):
            if case .refused(let response)? = handshake.end() {
                finish(.failed(.handshake(response)))
            } else {
                finish(.failed(.connectionClosed("before it answered (\(host))")))
            }
        case (_, .endOfStream):
            finish(.failed(.connectionClosed("without a close frame (\(host))")))
        case (_, .failed(let reason)):
            finish(.failed(.connectionClosed("(\(host): \(printable(reason)))")))
        case (_, .tooSlow):
            finish(
                .failed(
                    .other(
                        "\(host) does not read what is sent to it: more than \(options.maxBufferedAmount) bytes wait")))
        }
    }

    // MARK: Keep-alive

    private func startKeepalive() {
        guard let interval = options.keepaliveInterval, interval > .zero else { return }
        unansweredPing = nil
        let timeout = options.keepaliveTimeout
        var lastCheck = MonotonicTime.now
        keepalive = loop.schedule(every: interval, startingAt: lastCheck + interval) { [weak self] in
            guard let self else { return }
            let now = MonotonicTime.now
            // While this loop stood still nothing could be sent or heard: that is no silence of the peer.
            if now - lastCheck > interval * 2 { self.unansweredPing = nil }
            lastCheck = now
            if let sent = self.unansweredPing, now - sent >= timeout {
                self.finish(.failed(.timedOut("a sign of life from \(self.host)", after: interval + timeout)))
            } else {
                self.unansweredPing = self.unansweredPing ?? now
                self.write(.ping, [])
            }
        }
    }
}
