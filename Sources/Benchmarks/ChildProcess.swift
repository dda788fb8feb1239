import Foundation
import LoopCore

/// A program that is measured from outside: its CPU and memory as the kernel counted them.
struct ChildProcess {
    var status: Int32
    /// User and system time, seconds.
    var cpu: Double
    /// The most that was resident, MB.
    var peakMegabytes: Double
    var started: MonotonicTime

    /// Runs a program to its end, with its output thrown away. Blocks.
    static func run(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables =
            ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var pid: pid_t = 0
        let started = MonotonicTime.now
        let code = posix_spawn(&pid, path, &actions, nil, words, variables)
        guard code == 0 else { throw CodecBenchmark.Failure(message: "\(path) cannot be started: \(code)") }
        var status: Int32 = 0
        var usage = rusage()
        var peak = 0.0
        // `ru_maxrss` would count this process, which the child was a copy of before it became its own program.
        while wait4(pid, &status, WNOHANG, &usage) == 0 {
            peak = max(peak, peakMegabytes(of: pid))
            usleep(50_000)
        }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return ChildProcess(
            status: status, cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            peakMegabytes: peak, started: started)
    }

    /// `VmHWM` of a process, MB.
    private static func peakMegabytes(of pid: pid_t) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Double($0) } ?? 0
        return kilobytes / 1024
    }
}
