import Foundation
import LoopCore
import TestDevices
import Testing

@testable import AudioPipeline

/// The audio threads keep to what real time asks of them.
@Suite(.serialized, .timeLimit(.minutes(3))) struct RealTimeTests {
    private struct Report: Decodable {
        var allocations: Int
        var frees: Int
        var locks: Int
        var frames: Int
        var seconds: Double
        var rate: Int
        var xruns: Int
        var dropped: Int
        var silent: Int
        var scheduling: String
    }

    /// Runs the probe, a process in which allocations and locks of audio threads are counted.
    private func probe(_ arguments: [String]) throws -> Report {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("realtime-probe")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        return try JSONDecoder().decode(Report.self, from: data)
    }

    private let isSanitized = ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil

    @Test func audioThreadsNeitherAllocateNorLock() throws {
        guard !isSanitized else { return }
        let noise = (0..<480_000).map { Int16(truncatingIfNeeded: $0 &* 7919) }
        for microphone in [try TestPCMs.speech(noise), "null", "only24"] {
            let report = try probe(["2", microphone, "null"])
            #expect(report.allocations == 0)
            #expect(report.frees == 0)
            #expect(report.locks == 0)
            #expect(abs(Double(report.frames) / Double(report.rate) - report.seconds) < 0.1)
            #expect(report.dropped == 0)
        }
    }

    /// The counter sees what it is there to see.
    @Test func whatIsForbiddenWouldBeSeen() throws {
        guard !isSanitized else { return }
        let report = try probe(["0.5", "null", "null", "allocate"])
        #expect(report.allocations > 0)
        #expect(report.locks > 0)
    }

    /// With every core taken by other processes, a minute of sound from a sound server comes without a missing sample.
    @Test func aBusyMachineLosesNoSample() throws {
        guard !isSanitized else { return }
        let server = try SoundServer(isUrgent: true)
        let folder = try TemporaryFolder()
        // Counts up to 30,000 and again: a sample that is missing is seen.
        let ramp = (0..<(66 * 48_000)).map { Int16($0 % 30_000 + 1) }
        let path = try folder.write(ramp.withUnsafeBytes { Array($0) }, "ramp.raw")
        let device = try CaptureDevice(name: server.microphone)
        defer { device.stop() }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let load = try (0..<(2 * cores)).map { _ in
            try SpawnedProcess(["sh", "-c", "while :; do :; done"], environment: ProcessInfo.processInfo.environment)
        }
        defer { for process in load { process.kill() } }
        try server.sayIntoMicrophone(path)
        var heard: [Int16] = []
        let started = MonotonicTime.now
        while heard.count < 62 * 48_000, MonotonicTime.now - started < .seconds(100) {
            usleep(20_000)
            let samples = device.ring.read(device.ring.capacity)
            // The silence before the sound starts.
            heard += heard.isEmpty ? samples.drop { $0 == 0 } : samples[...]
        }
        // It begins with a fade, since a server's idle sink gives nothing at first.
        heard.removeFirst(min(heard.count, 480))
        let first = try #require(heard.first)
        var breaks = 0
        var expected = Int(first)
        // The server may begin in mid-sound; from there on each sample is one more than the last.
        for sample in heard.prefix(60 * 48_000) {
            if Int(sample) != expected { breaks += 1 }
            expected = Int(sample) % 30_000 + 1
        }
        #expect(heard.count >= 60 * 48_000)
        #expect(breaks == 0, "\(breaks) breaks")
        #expect(device.statistics.droppedFrames == 0)
        #expect(device.statistics.xruns == 0)
    }
}
