public import Foundation

/// A child process that Foundation does not watch: its `Process` waits for ever when a child closes the descriptors
/// that it inherited, as PulseAudio does.
public final class SpawnedProcess {
    public let processIdentifier: pid_t
    private var status: Int32?

    public struct Failure: Error {
        public var code: Int32
    }

    /// Runs a program that is found in `PATH`; its output goes nowhere.
    public init(_ arguments: [String], environment: [String: String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor: Int32 in 0...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        // The signals that a test's thread blocks would be blocked in the child too.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in pointers + variables { free(pointer) } }
        var identifier: pid_t = 0
        let code = posix_spawnp(&identifier, arguments[0], &actions, &attributes, &pointers, &variables)
        guard code == 0 else { throw Failure(code: code) }
        processIdentifier = identifier
    }

    deinit {
        kill()
    }

    /// Waits for its end, and returns its exit status.
    public func wait() -> Int32 {
        if let status { return status }
        var result: Int32 = 0
        while waitpid(processIdentifier, &result, 0) < 0, errno == EINTR {}
        status = (result >> 8) & 0xff
        return status ?? 0
    }

    /// Ends it at once. Harmless when repeated.
    public func kill() {
        guard status == nil else { return }
        Foundation.kill(processIdentifier, SIGKILL)
        _ = wait()
    }
}
