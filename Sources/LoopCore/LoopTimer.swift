/// A timer of an ``EventLoop``, confined to it. It is cancelled when the last reference goes.
///
/// Repeating timers are drift-free: the n-th call is due at `start + n * interval` however late earlier calls were,
/// and a loop that fell behind calls as often as intervals have passed (a media clock may not skip).
public final class LoopTimer {
    /// What the source calls. It is apart from the timer, so that a body that drops the timer ends it at once, also
    /// while missed calls are made up for.
    private final class Schedule {
        let body: () -> Void
        let interval: Duration?
        var due: MonotonicTime
        var source: CallbackSource?

        init(due: MonotonicTime, interval: Duration?, body: @escaping () -> Void) {
            self.body = body
            self.interval = interval
            self.due = due
        }

        func cancel() {
            source?.cancel()
            source = nil
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
            source?.arm(at: due)
            return source != nil
        }
    }

    private let schedule: Schedule

    fileprivate init(loop: EventLoop, due: MonotonicTime, interval: Duration?, body: @escaping () -> Void) {
        let schedule = Schedule(due: due, interval: interval, body: body)
        self.schedule = schedule
        // The source holds the schedule, until either is done.
        schedule.source = CallbackSource(loop: loop, due: due, body: schedule.fire)
    }

    deinit {
        cancel()
    }

    /// Stops the timer; it does not call again. Harmless when repeated.
    public func cancel() {
        schedule.cancel()
    }

    /// Whether the timer will call again.
    public var isActive: Bool { schedule.source?.isActive == true }
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
