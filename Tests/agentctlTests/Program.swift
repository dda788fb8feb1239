import Foundation
import Testing

/// The program as a user runs it: a process, its streams, its exit code.
enum Program {
    static let hello: String = {
        var path = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { path.deleteLastPathComponent() }
        return path.appendingPathComponent("config/demo/hello.wav").path
    }()

    /// The binary beside the test bundle.
    static let binary: URL = {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent("agentctl")
    }()

    struct Outcome: Sendable {
        var code: Int32
        var bytes: Data
        var errors: String

        var output: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Runs the program.
    /// - Parameters:
    ///   - signal: sent once `marker` stands on standard error, after half a second more.
    ///   - shell: a command line that ends in the program's arguments, `exec "$@"` where nothing else is wanted.
    ///   - input: what stands on standard input.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], signal: Int32? = nil, after marker: String = "",
        shell: String? = nil, input: Data? = nil
    ) async throws -> Outcome {
        let process = Process()
        if let shell {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", shell, "sh", binary.path] + arguments
        } else {
            process.executableURL = binary
            process.arguments = arguments
        }
        var variables = ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("LIVEKIT") && !$0.key.hasPrefix("AGENTCTL")
        }
        variables["XDG_CONFIG_HOME"] = "/nonexistent"
        process.environment = variables.merging(environment) { $1 }
        let output = Pipe()
        let errors = Pipe()
        let given = Pipe()
        process.standardInput = input == nil ? FileHandle.nullDevice : given
        process.standardOutput = output
        process.standardError = errors
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                do { try process.run() } catch { return continuation.resume(throwing: error) }
                let read = Collector(output.fileHandleForReading)
                if let input {
                    Thread.detachNewThread {
                        // A program that ends early closes its end.
                        Foundation.signal(SIGPIPE, SIG_IGN)
                        try? given.fileHandleForWriting.write(contentsOf: input)
                        try? given.fileHandleForWriting.close()
                    }
                }
                var text = ""
                var isSignalled = false
                while case let data = errors.fileHandleForReading.availableData, !data.isEmpty {
                    text += String(decoding: data, as: UTF8.self)
                    if let signal, !isSignalled, text.contains(marker) {
                        isSignalled = true
                        Thread.sleep(forTimeInterval: 0.5)
                        kill(process.processIdentifier, signal)
                    }
                }
                process.waitUntilExit()
                let code =
                    process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
                continuation.resume(returning: Outcome(code: code, bytes: read.data(), errors: text))
            }
        }
    }

    /// Reads a pipe on a thread of its own, so that neither pipe fills up.
    private final class Collector: @unchecked Sendable {
        // Written by the reading thread before `done` is signalled, read after it was waited for.
        private var collected = Data()
        private let done = DispatchSemaphore(value: 0)

        init(_ handle: FileHandle) {
            Thread.detachNewThread {
                self.collected = handle.readDataToEndOfFile()
                self.done.signal()
            }
        }

        func data() -> Data {
            done.wait()
            return collected
        }
    }

    static func temporary(_ name: String) -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("agentctl-\(UUID().uuidString)-\(name)").path
    }

    /// 16-bit samples after the header of a WAV file, and whether its sizes fit the file.
    static func samples(_ path: String) throws -> [Int16] {
        let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(String(decoding: data.prefix(4), as: UTF8.self) == "RIFF")
        func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(data[at + $1]) << (8 * $1) } }
        #expect(number(4) + 8 <= data.count)
        var at = 12
        while at + 8 <= data.count, String(decoding: data[at..<at + 4], as: UTF8.self) != "data" {
            at += 8 + number(at + 4)
        }
        let length = min(number(at + 4), data.count - at - 8)
        return stride(from: at + 8, to: at + 8 + length - 1, by: 2).map {
            Int16(bitPattern: UInt16(data[$0]) | UInt16(data[$0 + 1]) << 8)
        }
    }
}
