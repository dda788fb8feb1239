import Foundation
import Synchronization

/// Writes to standard output and standard error, whole strings at a time.
///
/// A reader that went away (`agentctl talk | head -1`) is no error: output stops, the session goes on to its end.
final class Output: Sendable {
    static let shared = Output()

    private let isClosed = Mutex(false)
    private let failure = Atomic<Int32>(0)
    private let descriptor = Atomic<Int32>(STDOUT_FILENO)

    private init() {
        // A closed pipe must be an error of write(2), not the end of the process.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Whether what is written goes to a terminal.
    var isTerminal: Bool { isatty(descriptor.load(ordering: .relaxed)) == 1 }

    /// Writes to standard error from now on, because standard output carries sound.
    func moveToStandardError() { descriptor.store(STDERR_FILENO, ordering: .relaxed) }

    func write(_ text: String) {
        isClosed.withLock { closed in
            guard !closed else { return }
            guard !Self.write(text, to: descriptor.load(ordering: .relaxed)) else { return }
            closed = true
            // A reader that went away wanted no more; anything else loses what was asked for.
            if errno != EPIPE { failure.store(errno, ordering: .relaxed) }
        }
    }

    /// The exit code of the run: `code`, unless what it had to write was lost.
    func finish(_ code: Int32) -> Int32 {
        let error = failure.load(ordering: .relaxed)
        guard error != 0 else { return code }
        note("agentctl: standard output could not be written: \(String(cString: strerror(error))). Results are missing")
        return code == 0 ? 70 : code
    }

    func writeLine(_ text: String) { write(text + "\n") }

    /// For people: progress, warnings and errors.
    func note(_ text: String) {
        _ = Self.write(text + "\n", to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                return false
            }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
