import CGLib
import LoopCore

/// A connected, non-blocking byte stream (TCP, TLS) on the loop, confined to it. Dropping it closes it.
final class ByteStream {
    /// Why nothing more arrives.
    enum End {
        case endOfStream
        /// In GLib's words.
        case failed(String)
        /// More than `maxBufferedAmount` bytes wait to be sent.
        case tooSlow
    }

    /// The bytes are valid during the call.
    var onBytes: ((UnsafeRawBufferPointer) -> Void)?
    /// Called once.
    var onEnd: ((End) -> Void)?
    /// Bytes that the operating system has not taken yet.
    var bufferedAmount: Int { queue.count - queueStart }

    private let loop: EventLoop
    private let stream: UnsafeMutablePointer<GIOStream>
    private let socket: UnsafeMutablePointer<GSocket>?
    private let maxBufferedAmount: Int
    private var inputSource: UnsafeMutablePointer<GSource>?
    private var outputSource: UnsafeMutablePointer<GSource>?
    private var queue: [UInt8] = []
    private var queueStart = 0
    /// The size of a write that would have blocked: TLS wants it repeated with the same data.
    private var blockedWrite: Int?
    private var isClosed = false
    private var isDraining = false
    private var timer: LoopTimer?
    private var selfReference: ByteStream?

    /// - Parameters:
    ///   - stream: taken over, with its reference.
    ///   - socket: of a plain connection, to end the sending side alone.
    init(
        loop: EventLoop, taking stream: UnsafeMutablePointer<GIOStream>, socket: UnsafeMutablePointer<GSocket>?,
        maxBufferedAmount: Int
    ) {
        self.loop = loop
        self.stream = stream
        self.socket = socket
        self.maxBufferedAmount = maxBufferedAmount
        if let socket { g_object_ref(socket) }
    }

    deinit {
        close()
        let (stream, socket) = (stream, socket)
        releaseOnLoop(loop) {
            if let socket { g_object_unref(socket) }
            g_object_unref(stream)
        }
    }

    /// Starts to read. What has been buffered inside the stream is delivered from the loop, not from here.
    func start() {
        guard !isClosed, inputSource == nil,
            let source = g_pollable_input_stream_create_source(input, nil)
        else { return }
        inputSource = attach(source) { $0.readable() }
        timer = loop.schedule(after: .zero) { [weak self] in self?.readable() }
    }

    /// Sends what can be sent at once and queues the rest.
    func write(_ bytes: [UInt8]) {
        guard !isClosed, !isDraining else { return }
        guard bytes.count <= maxBufferedAmount - bufferedAmount else {
            end(later: .tooSlow)
            return
        }
        if queueStart == queue.count {
            queue = bytes
            queueStart = 0
        } else {
            if queueStart > 1 << 16 {
                queue.removeFirst(queueStart)
                queueStart = 0
            }
            queue += bytes
        }
        if outputSource == nil { flush() }
    }

    /// Sends what is queued, ends the sending side, and closes when the peer has closed, at the latest after `limit`.
    /// Nothing is delivered any more.
    func closeWhenDrained(within limit: Duration) {
        guard !isClosed, !isDraining else { return }
        isDraining = true
        onBytes = nil
        onEnd = nil
        selfReference = self
        timer = loop.schedule(after: limit) { [weak self] in self?.close() }
        if outputSource == nil { drained() }
    }

    /// Closes at once; what is queued is lost. Nothing is delivered any more.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        onBytes = nil
        onEnd = nil
        timer = nil
        detach(&inputSource)
        detach(&outputSource)
        queue = []
        queueStart = 0
        let stream = stream
        releaseOnLoop(loop) {
            g_io_stream_close_async(stream, G_PRIORITY_DEFAULT, nil, nil, nil)
        }
        selfReference = nil
    }

    // MARK: Reading

    private var input: OpaquePointer? { g_io_stream_get_input_stream(stream).map { OpaquePointer($0) } }

    private func readable() {
        // A few reads at a time: one peer must not hold the loop.
        for _ in 0..<4 where !isClosed {
            guard readOnce() else { return }
        }
    }

    /// Whether there may be more.
    private func readOnce() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 32 << 10, alignment: 16) { buffer in
            var error: UnsafeMutablePointer<GError>?
            let count = g_pollable_input_stream_read_nonblocking(
                input, buffer.baseAddress, gsize(buffer.count), nil, &error)
            if count > 0 {
                onBytes?(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return count == buffer.count
            }
            if count == 0 {
                end(.endOfStream)
            } else if g_error_matches(error, g_io_error_quark(), Int32(G_IO_ERROR_WOULD_BLOCK.rawValue)) != 0 {
                g_error_free(error)
            } else {
                end(.failed(takeMessage(error)))
            }
            return false
        }
    }

    private func end(_ reason: End) {
        let handler = onEnd
        close()
        handler?(reason)
    }

    private func end(later reason: End) {
        detach(&inputSource)
        detach(&outputSource)
        timer = loop.schedule(after: .zero) { [weak self] in self?.end(reason) }
    }

    // MARK: Writing

    private func flush() {
        guard let output = g_io_stream_get_output_stream(stream).map({ OpaquePointer($0) }) else { return }
        while queueStart < queue.count {
            let size = blockedWrite ?? min(queue.count - queueStart, 64 << 10)
            var error: UnsafeMutablePointer<GError>?
            let count = queue.withUnsafeBytes { bytes in
                g_pollable_output_stream_write_nonblocking(
                    output, bytes.baseAddress?.advanced(by: queueStart), gsize(size), nil, &error)
            }
            if count >= 0 {
                queueStart += Int(count)
                blockedWrite = nil
            } else if g_error_matches(error, g_io_error_quark(), Int32(G_IO_ERROR_WOULD_BLOCK.rawValue)) != 0 {
                g_error_free(error)
                blockedWrite = size
                waitUntilWritable(output)
                return
            } else {
                end(later: .failed(takeMessage(error)))
                return
            }
        }
        queue = []
        queueStart = 0
        detach(&outputSource)
        if isDraining { drained() }
    }

    private func waitUntilWritable(_ output: OpaquePointer) {
        guard outputSource == nil, let source = g_pollable_output_stream_create_source(output, nil) else { return }
        outputSource = attach(source) { $0.flush() }
    }

    private func drained() {
        guard let socket, inputSource != nil else {
            close()
            return
        }
        // Closing a socket with unread bytes resets the connection, and the peer may lose what was sent last.
        g_socket_shutdown(socket, 0, 1, nil)
    }

    // MARK: Sources

    /// Calls `body` whenever the source is ready, until it is detached.
    private func attach(
        _ source: UnsafeMutablePointer<GSource>, _ body: @escaping (ByteStream) -> Void
    ) -> UnsafeMutablePointer<GSource> {
        // Sources of pollable streams call with the stream first.
        let callback: @convention(c) (gpointer?, gpointer?) -> gboolean = { _, data in
            guard let data else { return 0 }
            let target = Unmanaged<SourceTarget>.fromOpaque(data).takeUnretainedValue()
            guard let stream = target.stream else { return 0 }
            target.body(stream)
            // A source that has been destroyed meanwhile stays so.
            return 1
        }
        let target = SourceTarget(stream: self, body: body)
        g_source_set_callback(
            source, unsafeBitCast(callback, to: GSourceFunc.self), Unmanaged.passRetained(target).toOpaque(),
            releaseObject)
        g_source_attach(source, loop.context)
        return source
    }

    private func detach(_ source: inout UnsafeMutablePointer<GSource>?) {
        guard let old = source else { return }
        source = nil
        g_source_destroy(old)
        g_source_unref(old)
    }
}

/// What a source calls; the stream may have gone.
private final class SourceTarget {
    weak var stream: ByteStream?
    let body: (ByteStream) -> Void

    init(stream: ByteStream, body: @escaping (ByteStream) -> Void) {
        self.stream = stream
        self.body = body
    }
}
