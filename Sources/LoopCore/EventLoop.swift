import CGLib
import Foundation
import Synchronization

/// One GLib main context on a thread of its own, usable as the executor of Swift actors.
///
/// libsoup and libnice call back on the thread that runs their context; DTLS, SCTP and the media path are driven
/// from the same place. An actor whose `unownedExecutor` is an `EventLoop` therefore may own all of them without
/// locks: the compiler proves that they never leave its thread.
///
/// Objects such as ``LoopTimer`` are "confined to the loop": they are not `Sendable`, are created on the loop and
/// call back on it.
// @unchecked: `context` and `thread` are set once in `init`; everything else that changes is behind `Mutex`/`Atomic`.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
    /// The GLib context that this loop runs. It is the thread-default context of the loop's thread.
    public let context: OpaquePointer

    private let pending = Mutex<[Work]>([])
    private let stopped = Atomic<Bool>(false)
    private let threadID = Atomic<UInt>(0)

    private enum Work {
        case job(UnownedJob)
        case block(@Sendable () -> Void)
    }

    /// Starts the loop's thread.
    /// - Parameter name: the thread's name as `top -H` shows it (at most 15 bytes are kept).
    public init(name: String = "agentctl-loop") {
        context = g_main_context_new()
        attachWorkSource()
        let thread = Thread { [self] in run() }
        thread.name = name
        thread.stackSize = 2 << 20
        thread.start()
    }

    deinit {
        g_main_context_unref(context)
    }

    // MARK: Submitting work

    public func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    /// Runs `body` on the loop, after what was submitted before it. Callable from any thread.
    public func execute(_ body: @escaping @Sendable () -> Void) {
        submit(.block(body))
    }

    /// Whether the caller is on the loop's thread.
    public var isCurrent: Bool {
        threadID.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Stops the process with a message if the caller is not on the loop's thread.
    public func checkIsolated() {
        precondition(isCurrent, "called off the event loop's thread")
    }

    public func isSameExclusiveExecutionContext(other: EventLoop) -> Bool {
        self === other
    }

    /// Ends the loop's thread once the work submitted so far has run. Nothing may be submitted afterwards.
    public func stop() {
        execute { [self] in
            stopped.store(true, ordering: .releasing)
        }
    }

    // MARK: The loop

    private func submit(_ work: Work) {
        pending.withLock { $0.append(work) }
        g_main_context_wakeup(context)
    }

    private func run() {
        threadID.store(UInt(pthread_self()), ordering: .relaxed)
        g_main_context_push_thread_default(context)
        while !stopped.load(ordering: .acquiring) {
            g_main_context_iteration(context, 1)
        }
        g_main_context_pop_thread_default(context)
    }

    /// A source that is ready whenever work is pending: one wake-up serves any number of jobs.
    private func attachWorkSource() {
        guard let source = g_source_new(&workSourceFunctions, guint(MemoryLayout<WorkSource>.size)) else { return }
        source.withMemoryRebound(to: WorkSource.self, capacity: 1) {
            // Unretained: the source runs only inside `run()`, which keeps the loop alive.
            $0.pointee.loop = Unmanaged.passUnretained(self).toOpaque()
        }
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        g_source_attach(source, context)
        g_source_unref(source)
    }

    fileprivate var hasWork: Bool {
        pending.withLock { !$0.isEmpty }
    }

    fileprivate func runPending() {
        let batch = pending.withLock { work in
            defer { work = [] }
            return work
        }
        for work in batch {
            switch work {
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            case .block(let body): body()
            }
        }
    }
}

private struct WorkSource {
    var source: GSource
    var loop: UnsafeMutableRawPointer?
}

private func loop(of source: UnsafeMutablePointer<GSource>?) -> EventLoop? {
    source?.withMemoryRebound(to: WorkSource.self, capacity: 1) {
        $0.pointee.loop.map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// GLib keeps the pointer to this table, so it lives as long as the process and is never written again.
nonisolated(unsafe) private var workSourceFunctions = GSourceFuncs(
    prepare: { source, timeout in
        timeout?.pointee = -1
        return (loop(of: source)?.hasWork ?? false) ? 1 : 0
    },
    check: { source in (loop(of: source)?.hasWork ?? false) ? 1 : 0 },
    dispatch: { source, _, _ in
        loop(of: source)?.runPending()
        return 1
    },
    finalize: nil,
    closure_callback: nil,
    closure_marshal: nil)
