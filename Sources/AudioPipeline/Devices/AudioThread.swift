import CALSA
import Glibc
import Synchronization

/// How urgently an audio thread is scheduled.
public enum AudioScheduling: Int, Sendable, CustomStringConvertible {
    /// As any other thread: the system allowed nothing better.
    case normal
    /// With a better nice value.
    case nice
    /// `SCHED_FIFO`: before every ordinary thread.
    case realtime

    public var description: String {
        switch self {
        case .normal: "normal"
        case .nice: "nice -11"
        case .realtime: "SCHED_FIFO"
        }
    }
}

/// A thread for audio: named, with the best scheduling that the system allows, and joined when it ends.
final class AudioThread: Sendable {
    private let thread: pthread_t
    /// Whether it is still to be joined.
    private let isRunning: Atomic<Bool>

    /// - Parameters:
    ///   - name: at most 15 bytes.
    ///   - body: runs on the thread; the scheduling that it has is told to it.
    init(name: StaticString, body: @escaping @Sendable (AudioScheduling) -> Void) {
        let context = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let isStarted =
            pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                    let scheduling = AudioThread.hurry()
                    start.name.withUTF8Buffer { name in
                        name.baseAddress.map {
                            calsa_name_thread(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
                        }
                    }
                    start.body(scheduling)
                    return nil
                }, context.toOpaque()) == 0
        if !isStarted { context.release() }
        self.thread = thread
        isRunning = Atomic(isStarted)
    }

    /// Waits for the end of the body, which must have been told to end. Harmless when repeated.
    func join() {
        if isRunning.exchange(false, ordering: .acquiringAndReleasing) { pthread_join(thread, nil) }
    }

    private final class Start {
        let name: StaticString
        let body: @Sendable (AudioScheduling) -> Void

        init(name: StaticString, body: @escaping @Sendable (AudioScheduling) -> Void) {
            self.name = name
            self.body = body
        }
    }

    private static func hurry() -> AudioScheduling {
        var parameters = sched_param()
        // Above ordinary threads and below the kernel's own.
        parameters.sched_priority = 20
        if pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0 { return .realtime }
        if calsa_nice_thread(-11) == 0 { return .nice }
        return .normal
    }
}

/// An `eventfd`: wakes whoever polls it, from any thread, without allocating.
final class WakeupSignal: Sendable {
    let descriptor: Int32

    init() {
        descriptor = calsa_eventfd()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func raise() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
