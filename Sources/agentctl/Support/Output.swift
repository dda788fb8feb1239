import Foundation
import Synchronization

/// Writes to standard output and standard error, whole strings at a time.
///
/// A reader that went away (`agentctl talk | head -1`) is no error: output stops, the session goes on to its end.
final class Output: Sendable {
    static let shared = Output()

    private let isClosed = Mutex(false)
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
            if !Self.write(text, to: descriptor.load(ordering: .relaxed)) { closed = true }
        }
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
