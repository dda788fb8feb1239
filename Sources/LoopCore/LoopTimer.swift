import CGLib

/// A timer of an ``EventLoop``, confined to it. It is cancelled when the last reference goes.
///
/// Repeating timers are drift-free: the n-th call is due at `start + n * interval` however late earlier calls were,
/// and a loop that fell behind calls as often as intervals have passed (a media clock may not skip).
public final class LoopTimer {
    private let body: () -> Void
    private let interval: Duration?
    private var due: MonotonicTime
    private var source: UnsafeMutablePointer<GSource>?

    fileprivate init(loop: EventLoop, due: MonotonicTime, interval: Duration?, body: @escaping () -> Void) {
        loop.checkIsolated()
        self.body = body
        self.interval = interval
        self.due = due
        guard let source = g_source_new(&timerSourceFunctions, guint(MemoryLayout<GSource>.size)) else { return }
        self.source = source
        // Unretained: `cancel()` in `deinit` destroys the source before the object goes.
        g_source_set_callback(
            source,
            { timer in
                guard let timer else { return 0 }
                return Unmanaged<LoopTimer>.fromOpaque(timer).takeUnretainedValue().fire() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
        arm()
        g_source_attach(source, loop.context)
    }

    deinit {
        cancel()
    }

    /// Stops the timer; it does not call again. Harmless when repeated.
    public func cancel() {
        guard let source else { return }
        self.source = nil
        g_source_destroy(source)
        g_source_unref(source)
    }

    /// Whether the timer will call again.
    public var isActive: Bool { source != nil }

    private func arm() {
        // GLib wants microseconds of the same monotonic clock; rounding up never fires early.
        g_source_set_ready_time(source, gint64((due.nanoseconds + 999) / 1000))
    }

    private func fire() -> Bool {
        // The body may drop the last reference to this timer.
        withExtendedLifetime(self) {
            guard let interval else {
                cancel()
                body()
                return false
            }
            let now = MonotonicTime.now
            while source != nil, due <= now {
                due = due + interval
                body()
            }
            if source != nil { arm() }
            return source != nil
        }
    }
}

extension EventLoop {
    /// Calls `body` once, `delay` from now. Call on the loop; keep the timer, dropping it cancels.
    public func schedule(after delay: Duration, _ body: @escaping () -> Void) -> LoopTimer {
        LoopTimer(loop: self, due: .now + delay, interval: nil, body: body)
    }

    /// Calls `body` at `start + n * interval` for n = 0, 1, 2, … Call on the loop; keep the timer, dropping it cancels.
    public func schedule(
        every interval: Duration, startingAt start: MonotonicTime, _ body: @escaping () -> Void
    ) -> LoopTimer {
        precondition(interval > .zero, "a repeating timer needs a positive interval")
        return LoopTimer(loop: self, due: start, interval: interval, body: body)
    }
}

/// GLib keeps the pointer to this table, so it lives as long as the process and is never written again.
nonisolated(unsafe) private var timerSourceFunctions = GSourceFuncs(
    prepare: nil,
    check: nil,
    dispatch: { _, callback, data in callback?(data) ?? 0 },
    finalize: nil,
    closure_callback: nil,
    closure_marshal: nil)
