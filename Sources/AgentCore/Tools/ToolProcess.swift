import Foundation
import Synchronization

/// One run of a tool's command: bytes to its standard input, its output and exit status back.
///
/// The program has a process group of its own, no descriptor but the standard ones and no secret in its environment. A
/// run is over when the program has ended; what it left behind is ended with it.
final class ToolProcess: Sendable {
    enum Outcome: Sendable, Equatable {
        case succeeded([UInt8])
        /// It ended with that status (128 + signal where a signal ended it); the last line of its standard error.
        case failed(status: Int32, message: String)
        case notStarted(reason: String)
        case tookTooLong
        case wroteTooMuch
    }

    /// The process while it can be signalled: it is taken out, under the lock, when it is reaped.
    private let process = Mutex<pid_t?>(nil)
    private let isCancelled = Atomic<Bool>(false)

    /// Variables that the program does not see.
    private static let secrets = ["LIVEKIT_API_SECRET", "LIVEKIT_API_KEY", "LIVEKIT_TOKEN"]

    /// Ends the run. Callable from any thread, harmless when repeated.
    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        signal(SIGKILL)
    }

    /// Starts the program on a thread of its own; `completion` is called there.
    func start(
        _ arguments: [String], input: [UInt8], environment: [String: String], outputLimit: Int, timeLimit: Duration,
        completion: @escaping @Sendable (Outcome) -> Void
    ) {
        Thread.detachNewThread { [self] in
            // A program need not read its input.
            var blocked = sigset_t()
            sigemptyset(&blocked)
            sigaddset(&blocked, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &blocked, nil)
            completion(run(arguments, input, environment, outputLimit, timeLimit))
        }
    }

    private func signal(_ number: Int32) {
        process.withLock { if let identifier = $0 { kill(-identifier, number) } }
    }

    // MARK: On the thread

    private func run(
        _ arguments: [String], _ input: [UInt8], _ environment: [String: String], _ outputLimit: Int,
        _ timeLimit: Duration
    ) -> Outcome {
        // [standard input, output, error], each [the end to read, the end to write].
        var pipes: [[Int32]] = []
        defer { for descriptor in pipes.joined() where descriptor >= 0 { close(descriptor) } }
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return .notStarted(reason: Self.reason(errno)) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipes.append(ends)
        }
        let code = spawn(arguments, [pipes[0][0], pipes[1][1], pipes[2][1]], environment)
        for (index, end) in [0, 1, 1].enumerated() {
            close(pipes[index][end])
            pipes[index][end] = -1
        }
        guard code == 0 else { return .notStarted(reason: Self.reason(code)) }
        if isCancelled.load(ordering: .relaxed) { signal(SIGKILL) }

        var rest = input[...]
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var ending: Outcome?
        let deadline = ContinuousClock.now + timeLimit
        for descriptor in [pipes[0][1], pipes[1][0], pipes[2][0]] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
        while true {
            if rest.isEmpty, pipes[0][1] >= 0 {
                close(pipes[0][1])
                pipes[0][1] = -1
            }
            var polled = [pollfd(fd: pipes[0][1], events: Int16(POLLOUT), revents: 0)]
            for index in 1...2 { polled.append(pollfd(fd: pipes[index][0], events: Int16(POLLIN), revents: 0)) }
            let status = reap()
            // After its end there is only what the pipes still hold.
            poll(&polled, 3, status == nil ? 20 : 0)
            if polled[0].revents != 0, !Self.write(&rest, to: pipes[0][1]) { rest = [] }
            let isWritten = Self.read(&pipes[1][0], into: &output)
            let isComplained = Self.read(&pipes[2][0], into: &errors)
            errors = Array(errors.suffix(4096))
            if output.count > outputLimit, ending == nil {
                ending = .wroteTooMuch
                signal(SIGKILL)
            }
            if ContinuousClock.now >= deadline, ending == nil {
                ending = .tookTooLong
                signal(SIGKILL)
            }
            if let status, !isWritten, !isComplained {
                return ending
                    ?? (status == 0 ? .succeeded(output) : .failed(status: status, message: Self.lastLine(errors)))
            }
        }
    }

    private func spawn(_ arguments: [String], _ descriptors: [Int32], _ environment: [String: String]) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (index, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(index))
        }
        for descriptor in Self.openDescriptors() where descriptor > 2 {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var reset = sigset_t()
        sigemptyset(&reset)
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH] { sigaddset(&reset, number) }
        posix_spawnattr_setsigdefault(&attributes, &reset)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var variables = ProcessInfo.processInfo.environment
        for name in Self.secrets { variables[name] = nil }
        variables.merge(environment) { $1 }
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var pairs: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + pairs { free(pointer) } }
        var identifier: pid_t = 0
        let code = posix_spawnp(&identifier, arguments[0], &actions, &attributes, &words, &pairs)
        if code == 0 { process.withLock { [identifier] in $0 = identifier } }
        return code
    }

    /// Libraries do not mark all of theirs to be closed.
    private static func openDescriptors() -> [Int32] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return (names ?? []).compactMap { Int32($0) }
    }

    private var status: Int32? { exitStatus.withLock { $0 } }
    private let exitStatus = Mutex<Int32?>(nil)

    /// The exit status once the program has ended. What else is in its group is ended then.
    private func reap() -> Int32? {
        process.withLock { identifier in
            guard let child = identifier else { return }
            var information = siginfo_t()
            // Looked at first: the group can be signalled as long as its leader is not reaped.
            guard waitid(P_PID, id_t(child), &information, WEXITED | WNOHANG | WNOWAIT) == 0, information.si_signo != 0
            else { return }
            kill(-child, SIGKILL)
            var result: Int32 = 0
            while waitpid(child, &result, 0) < 0, errno == EINTR {}
            identifier = nil
            let signal = result & 0x7f
            exitStatus.withLock { [result] in $0 = signal == 0 ? (result >> 8) & 0xff : 128 + signal }
        }
        return status
    }

    /// - Returns: whether the other end still reads.
    private static func write(_ rest: inout ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        guard descriptor >= 0, !rest.isEmpty else { return true }
        let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) }
        return count >= 0 || errno == EAGAIN || errno == EINTR
    }

    /// - Returns: whether there was something.
    private static func read(_ descriptor: inout Int32, into bytes: inout [UInt8]) -> Bool {
        guard descriptor >= 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        if count > 0 { bytes += buffer.prefix(count) }
        if count == 0 {
            close(descriptor)
            descriptor = -1
        }
        return count > 0
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func lastLine(_ bytes: [UInt8]) -> String {
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        return String((lines.last { !$0.allSatisfy(\.isWhitespace) } ?? "").prefix(200))
    }
}
