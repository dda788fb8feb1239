import CGLib

/// A timer of an ``EventLoop``, confined to it. It is cancelled when the last reference goes.
///
/// Repeating timers are drift-free: the n-th call is due at `start + n * interval` however late earlier calls were,
/// and a loop that fell behind calls as often as intervals have passed (a media clock may not skip).
public final class LoopTimer {
    /// What GLib calls. It is apart from the timer, so that a body that drops the timer ends it at once, also while
    /// missed calls are made up for.
    private final class Schedule {
        let body: () -> Void
        let interval: Duration?
        var due: MonotonicTime
        var source: UnsafeMutablePointer<GSource>?

        init(due: MonotonicTime, interval: Duration?, body: @escaping () -> Void) {
            self.body = body
            self.interval = interval
            self.due = due
        }

        func arm() {
            // GLib wants microseconds of the same monotonic clock; rounding up never fires early.
            if let source { g_source_set_ready_time(source, gint64((due.nanoseconds + 999) / 1000)) }
        }

        func cancel() {
            guard let source else { return }
            self.source = nil
            g_source_destroy(source)
            g_source_unref(source)
        }

        func fire() -> Bool {
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
            arm()
            return source != nil
        }
    }

    private let schedule: Schedule

    fileprivate init(loop: EventLoop, due: MonotonicTime, interval: Duration?, body: @escaping () -> Void) {
        loop.checkIsolated()
        schedule = Schedule(due: due, interval: interval, body: body)
        guard let source = g_source_new(&timerSourceFunctions, guint(MemoryLayout<GSource>.size)) else { return }
        schedule.source = source
        g_source_set_callback(
            source,
            { data in
                guard let data else { return 0 }
                let schedule = Unmanaged<Schedule>.fromOpaque(data).takeUnretainedValue()
                return withExtendedLifetime(schedule) { schedule.fire() } ? 1 : 0
            }, Unmanaged.passRetained(schedule).toOpaque(),
            { data in
                if let data { Unmanaged<Schedule>.fromOpaque(data).release() }
            })
        schedule.arm()
        g_source_attach(source, loop.context)
    }

    deinit {
        cancel()
    }

    /// Stops the timer; it does not call again. Harmless when repeated.
    public func cancel() {
        schedule.cancel()
    }

    /// Whether the timer will call again.
    public var isActive: Bool { schedule.source != nil }
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
