import AudioPipeline
import Foundation
import LoopCore

/// Keeps a session in a folder: `user.wav`, `agent.wav` and `mix.wav`, which begin together and stay aligned to the
/// sample, and `events.jsonl`, whose times count on the same clock. Everything is complete at every moment, so that it
/// can be used after a crash. Confined to the loop.
final class SessionRecorder {
    static let fileNames = ["user.wav", "agent.wav", "mix.wav", "events.jsonl"]

    /// The recording, or part of it, cannot go on: why.
    var onFailure: ((String) -> Void)?

    private var user: WAVWriter?
    private var agent: WAVWriter?
    private var mix: WAVWriter?
    private var events: Int32
    private let eventsPath: String
    private var pendingUser: [Int16] = []
    private var pendingAgent: [Int16] = []

    /// Samples that are written together: 100 ms.
    private static let block = AudioFormat.sampleRate / 10

    /// Creates the folder if need be. Recordings in it are replaced.
    init(directory: String) throws(AudioFileError) {
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw .notWritable(path: directory, reason: "the folder cannot be made")
        }
        func path(_ name: String) -> String { directory + "/" + name }
        user = try WAVWriter(path: path("user.wav"))
        agent = try WAVWriter(path: path("agent.wav"))
        mix = try WAVWriter(path: path("mix.wav"))
        eventsPath = path("events.jsonl")
        events = open(eventsPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard events >= 0 else {
            throw .notWritable(path: eventsPath, reason: String(cString: strerror(errno)))
        }
    }

    deinit {
        if events >= 0 { Foundation.close(events) }
    }

    /// Takes the next samples of the user. What one side has ahead of the other waits for it.
    func write(user samples: [Int16]) {
        pendingUser += samples
        if min(pendingUser.count, pendingAgent.count) >= Self.block { flush() }
    }

    /// Takes the next samples of the agent.
    func write(agent samples: [Int16]) {
        pendingAgent += samples
        if min(pendingUser.count, pendingAgent.count) >= Self.block { flush() }
    }

    /// Takes an event, as its line of JSON.
    func write(event line: String) {
        guard events >= 0 else { return }
        let bytes = Array((line + "\n").utf8)
        var done = 0
        while done < bytes.count {
            let result = bytes.withUnsafeBytes {
                Foundation.write(events, $0.baseAddress.map { $0 + done }, bytes.count - done)
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else {
                let reason = String(cString: strerror(errno))
                Foundation.close(events)
                events = -1
                onFailure?("\"\(eventsPath)\" ends here: \(reason). The session goes on")
                return
            }
            done += result
        }
    }

    private func flush() {
        let count = min(pendingUser.count, pendingAgent.count)
        guard count > 0 else { return }
        let both = zip(pendingUser[..<count], pendingAgent[..<count])
        write(Array(pendingUser[..<count]), to: &user)
        write(Array(pendingAgent[..<count]), to: &agent)
        write(both.map { Int16(clamping: Int32($0) + Int32($1)) }, to: &mix)
        pendingUser.removeFirst(count)
        pendingAgent.removeFirst(count)
    }

    private func write(_ samples: [Int16], to writer: inout WAVWriter?) {
        do {
            try writer?.write(samples)
        } catch {
            writer = nil
            onFailure?(error.description + " The session goes on.")
        }
    }

    func close() {
        flush()
        for writer in [user, agent, mix] { try? writer?.close() }
        user = nil
        agent = nil
        mix = nil
    }
}
