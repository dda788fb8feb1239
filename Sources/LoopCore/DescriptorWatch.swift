import CGLib

/// Calls back on an ``EventLoop`` whenever a descriptor is readable; confined to the loop. It ends when the last
/// reference goes. The descriptor stays the caller's, and has to outlive the watch.
public final class DescriptorWatch {
    private final class Body {
        let call: () -> Void

        init(_ call: @escaping () -> Void) { self.call = call }
    }

    private var source: UnsafeMutablePointer<GSource>?

    fileprivate init(loop: EventLoop, descriptor: Int32, body: @escaping () -> Void) {
        loop.checkIsolated()
        guard let source = g_source_new(&watchSourceFunctions, guint(MemoryLayout<GSource>.size)) else { return }
        self.source = source
        g_source_set_callback(
            source,
            { data in
                guard let data else { return 0 }
                let body = Unmanaged<Body>.fromOpaque(data).takeUnretainedValue()
                withExtendedLifetime(body) { body.call() }
                return 1
            }, Unmanaged.passRetained(Body(body)).toOpaque(),
            { data in
                if let data { Unmanaged<Body>.fromOpaque(data).release() }
            })
        g_source_add_unix_fd(source, descriptor, G_IO_IN)
        g_source_attach(source, loop.context)
    }

    deinit {
        cancel()
    }

    /// Ends it. Harmless when repeated.
    public func cancel() {
        guard let source else { return }
        self.source = nil
        g_source_destroy(source)
        g_source_unref(source)
    }
}

extension EventLoop {
    /// Calls `body` whenever `descriptor` is readable. Call on the loop; keep the watch, dropping it ends it.
    public func watch(_ descriptor: Int32, _ body: @escaping () -> Void) -> DescriptorWatch {
        DescriptorWatch(loop: self, descriptor: descriptor, body: body)
    }
}

/// GLib keeps the pointer to this table, so it lives as long as the process and is never written again.
nonisolated(unsafe) private var watchSourceFunctions = GSourceFuncs(
    prepare: nil,
    check: nil,
    dispatch: { _, callback, data in callback?(data) ?? 0 },
    finalize: nil,
    closure_callback: nil,
    closure_marshal: nil)
