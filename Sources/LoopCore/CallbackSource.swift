import CGLib

/// A GLib source of an ``EventLoop`` that calls a closure: what timers and watched descriptors are made of. Confined to
/// the loop; the closure lives until the source is cancelled or says that it is done.
final class CallbackSource {
    private final class Body {
        /// Returns whether to call again.
        let call: () -> Bool

        init(_ call: @escaping () -> Bool) { self.call = call }
    }

    private var source: UnsafeMutablePointer<GSource>?

    /// - Parameters:
    ///   - due: when to call first; nil where a descriptor does it. Known before the source is attached, it costs the
    ///     loop no wake-up.
    ///   - prepare: gives the source a descriptor to watch.
    ///   - body: returns whether to call again.
    init(
        loop: EventLoop, due: MonotonicTime? = nil, prepare: (UnsafeMutablePointer<GSource>) -> Void = { _ in },
        body: @escaping () -> Bool
    ) {
        loop.checkIsolated()
        guard let source = g_source_new(&callbackSourceFunctions, guint(MemoryLayout<GSource>.size)) else { return }
        self.source = source
        g_source_set_callback(
            source,
            { data in
                guard let data else { return 0 }
                let body = Unmanaged<Body>.fromOpaque(data).takeUnretainedValue()
                return withExtendedLifetime(body) { body.call() } ? 1 : 0
            }, Unmanaged.passRetained(Body(body)).toOpaque(),
            { data in
                if let data { Unmanaged<Body>.fromOpaque(data).release() }
            })
        if let due { arm(at: due) }
        prepare(source)
        g_source_attach(source, loop.context)
    }

    deinit {
        cancel()
    }

    /// Whether it may call again.
    var isActive: Bool { source != nil }

    /// Calls at that time, once; GLib wants microseconds of the same monotonic clock, and rounding up never fires early.
    func arm(at due: MonotonicTime) {
        if let source { g_source_set_ready_time(source, gint64((due.nanoseconds + 999) / 1000)) }
    }

    /// Ends it. Harmless when repeated.
    func cancel() {
        guard let source else { return }
        self.source = nil
        g_source_destroy(source)
        g_source_unref(source)
    }
}

/// GLib keeps the pointer to this table, so it lives as long as the process and is never written again.
nonisolated(unsafe) private var callbackSourceFunctions = GSourceFuncs(
    prepare: nil,
    check: nil,
    dispatch: { _, callback, data in callback?(data) ?? 0 },
    finalize: nil,
    closure_callback: nil,
    closure_marshal: nil)
