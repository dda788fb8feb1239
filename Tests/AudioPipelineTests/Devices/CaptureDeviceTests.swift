import Foundation
import LoopCore
import TestDevices
import Testing

@testable import AudioPipeline

/// Reads from a device until so many samples have come, or too much time has passed.
func capture(_ device: CaptureDevice, frames: Int, within limit: Duration = .seconds(5)) -> [Int16] {
    let started = MonotonicTime.now
    var received: [Int16] = []
    while received.count < frames, MonotonicTime.now - started < limit {
        usleep(5_000)
        received += device.ring.read(device.ring.capacity)
    }
    return received
}

@Suite struct CaptureDeviceTests {
    /// ALSA's `file` has no clock: it is read at its rate all the same, from its first sample on.
    @Test func deliversEverySampleInRealTime() throws {
        let source = (0..<96_000).map { Int16(truncatingIfNeeded: $0 &* 31 &+ 7) | 1 }
        let started = MonotonicTime.now
        let device = try CaptureDevice(name: try TestPCMs.speech(source))
        defer { device.stop() }
        #expect(device.configuration.rate == 48_000)
        #expect(device.configuration.channels == 1)
        #expect(device.configuration.periodFrames == 480)
        #expect(device.configuration.format == .s16)
        let received = capture(device, frames: 48_000)
        let elapsed = (MonotonicTime.now - started).inSeconds
        let isExact = received == Array(source.prefix(received.count))
        #expect(isExact)
        #expect(elapsed > 0.9 && elapsed < 3, "1 s of sound took \(elapsed) s")
        let statistics = device.statistics
        #expect(statistics.frames >= 48_000)
        #expect(statistics.silentFrames == 0)
        #expect(statistics.droppedFrames == 0)
        #expect(statistics.isPresent)
        let stamp = try #require(device.clock.stamp)
        #expect(abs((stamp.time - started).inSeconds - Double(stamp.frames) / 48_000) < 0.5)
    }

    @Test func whatNobodyTakesIsDroppedAndCounted() throws {
        let device = try CaptureDevice(name: "null", bound: .milliseconds(200))
        defer { device.stop() }
        usleep(600_000)
        #expect(device.ring.count == 9_600)
        #expect(device.statistics.droppedFrames > 9_600)
    }

    /// A device that has only an awkward format is converted here.
    @Test func otherFormats() throws {
        try #require(TestPCMs.isReady)
        let device = try CaptureDevice(name: "only24")
        defer { device.stop() }
        #expect(capture(device, frames: 4_800).count >= 4_800)
    }

    @Test func everyFailureSaysWhatToDo() throws {
        try #require(TestPCMs.isReady)
        func failure(_ name: String) -> AudioDeviceError? {
            do throws(AudioDeviceError) {
                _ = try CaptureDevice(name: name)
                return nil
            } catch { return error }
        }
        let unknown = try #require(failure("no-such-thing"))
        guard case .notFound = unknown else {
            Issue.record("\(unknown)")
            return
        }
        #expect(unknown.description.contains("\"no-such-thing\""))
        #expect(unknown.description.contains("agentctl devices"))
        let unreachable = try #require(failure("mic:unix:/no/such/socket"))
        #expect(unreachable.description.contains("sound server"))
        if !SoundCards.exist {
            let absent = try #require(failure("hw:0"))
            #expect(absent == .noSound(device: "hw:0", .capture))
            #expect(absent.description.contains("--input FILE"))
        }
        #expect(
            AudioDeviceError.busy(device: "hw:0", .capture, holder: "firefox (process 7)").description.contains(
                "firefox"))
        #expect(AudioDeviceError.notPermitted(device: "hw:0", .capture).description.contains("audio"))
    }

    /// Found as for a sound card's device: by the open descriptors of other processes.
    @Test func theHolderOfADeviceIsNamed() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("held-\(UUID().uuidString)").path
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let holder = try SpawnedProcess(["tail", "-f", path], environment: ProcessInfo.processInfo.environment)
        defer { holder.kill() }
        var found: String?
        for _ in 0..<100 where found == nil {
            usleep(20_000)
            found = DeviceHolder.holder { $0 == path }
        }
        #expect(found == "tail (process \(holder.processIdentifier))")
    }

    @Test func theListTellsWhatDevicesCan() throws {
        try #require(TestPCMs.isReady)
        let devices = AudioDeviceInfo.all()
        let null = try #require(devices.first { $0.name == "null" })
        #expect(null.isUsable)
        #expect(null.capture?.formats == PCMFormat.allCases)
        #expect(null.capture?.rates.contains(48_000) == true)
        #expect(null.playback?.channels.contains(2) == true)
        #expect(!devices.contains { $0.name == "nowhere" && $0.isUsable })
    }
}

@Suite struct PlaybackDeviceTests {
    @Test func playsEverySampleInRealTime() throws {
        let (name, path) = try TestPCMs.sink()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sound = (0..<24_000).map { Int16(truncatingIfNeeded: $0 &* 17) | 1 }
        let device = try PlaybackDevice(name: name)
        let started = MonotonicTime.now
        #expect(device.ring.write(sound) == sound.count)
        while device.ring.count > 0, MonotonicTime.now - started < .seconds(5) { usleep(5_000) }
        let elapsed = (MonotonicTime.now - started).inSeconds
        usleep(50_000)
        device.stop()
        #expect(elapsed > 0.35 && elapsed < 0.9, "0.5 s of sound took \(elapsed) s")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let played = bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        let begin = try #require(played.firstIndex { $0 != 0 })
        // The beginning follows on silence and is faded in over 5 ms.
        let isExact = Array(played[(begin + 240)..<(begin + sound.count)]) == Array(sound[240...])
        #expect(isExact)
        #expect(device.statistics.silentFrames > 0, "silence keeps the device going")
    }
}

@Suite struct PaceGuardTests {
    @Test func aDeviceWithoutAClockIsHeldToTime() {
        var guarded = PaceGuard(rate: 48_000, slack: 960, start: 0)
        var moved = 0
        for millisecond in stride(from: Int64(0), to: 2_000, by: 7) {
            moved += guarded.allowance(available: 9_600, moved: moved, now: millisecond * 1_000_000)
        }
        #expect(guarded.isUnpaced)
        #expect(abs(moved - 96_000) < 1_500)
        #expect(guarded.wait(for: 480, moved: 96_000, now: 2_000_000_000 - 20_000_000) == 10)
    }

    @Test(arguments: [-300.0, 0, 300]) func aRealDeviceIsLeftAlone(_ ppm: Double) {
        var guarded = PaceGuard(rate: 48_000, slack: 960, start: 0)
        var moved = 0
        var held = 0
        for millisecond in stride(from: Int64(10), to: 60_000, by: 10) {
            let captured = Int(Double(millisecond) * 48 * (1 + ppm / 1e6)) / 480 * 480
            let available = captured - moved
            let allowed = guarded.allowance(available: available, moved: moved, now: millisecond * 1_000_000)
            held += available - allowed
            moved += allowed
        }
        #expect(!guarded.isUnpaced)
        #expect(held == 0)
    }
}

@Suite struct SilenceEdgeTests {
    @Test func silenceComesAndGoesWithoutAStep() {
        var edge = SilenceEdge()
        var sound = (0..<960).map { Int16(12_000 * sin(Double($0) * 0.05)) }
        var out: [Int16] = []
        func run(_ body: (UnsafeMutablePointer<Int16>, Int) -> Void) {
            sound.withUnsafeMutableBufferPointer { buffer in
                if let base = buffer.baseAddress { body(base, buffer.count) }
            }
            out += sound
        }
        run { edge.resume($0, count: $1) }
        run { edge.silence($0, count: $1) }
        sound = (0..<960).map { Int16(12_000 * cos(Double($0) * 0.05)) }
        run { edge.resume($0, count: $1) }
        let steps = zip(out, out.dropFirst()).map { abs(Int($0) - Int($1)) }
        #expect((steps.max() ?? 0) < 700, "the tone itself moves by 600 a sample")
        #expect(out[1_300..<1_900].allSatisfy { $0 == 0 })
    }
}

@Suite struct ClockDriftTests {
    @Test(arguments: [-120.0, 0, 37, 500]) func findsTheDrift(_ ppm: Double) throws {
        var drift = ClockDrift(rate: 48_000)
        var random = SystemRandomNumberGenerator()
        for tick in 0..<4_000 {
            let frames = tick * 480
            let jitter = Double.random(in: -0.002...0.002, using: &random)
            let seconds = Double(frames) / 48_000 / (1 + ppm / 1e6) + jitter
            drift.add(.init(frames: frames, time: MonotonicTime(nanoseconds: Int64(seconds * 1e9))))
        }
        let found = try #require(drift.ppm)
        #expect(abs(found - ppm) < 10, "found \(found)")
    }

    @Test func aGapBeginsAnew() throws {
        var drift = ClockDrift(rate: 48_000)
        for tick in 0..<3_000 {
            // A second is missing in the middle.
            let time = Double(tick) / 100 + (tick > 1_500 ? 1 : 0)
            drift.add(.init(frames: tick * 480, time: MonotonicTime(nanoseconds: Int64(time * 1e9))))
        }
        #expect(abs(try #require(drift.ppm)) < 5)
        #expect(drift.seconds < 15)
    }

    @Test func aShortTimeSaysNothing() {
        var drift = ClockDrift(rate: 48_000)
        for tick in 0..<200 {
            drift.add(.init(frames: tick * 480, time: MonotonicTime(nanoseconds: Int64(tick) * 10_000_000)))
        }
        #expect(drift.ppm == nil)
    }
}

/// The detector that other tests rely on finds what it is there to find.
@Suite struct ClicksTests {
    private let tone = (0..<9_600).map { Int16(8_000 * sin(2 * .pi * 300 * Double($0) / 48_000)) }

    @Test func aCleanToneHasNone() {
        #expect(Clicks.find(in: tone) == [])
        #expect(Clicks.find(in: []) == [])
    }

    @Test func everyKindIsFound() {
        var missing = tone
        missing.removeSubrange(4_000..<4_060)
        #expect(Clicks.find(in: missing).map { abs($0 - 4_000) < 3 } == [true])
        var cut = tone
        for index in 4_040..<cut.count { cut[index] = 0 }
        #expect(Clicks.find(in: cut).map { abs($0 - 4_040) < 3 } == [true])
        var pop = tone
        pop[5_000] = 30_000
        #expect(Clicks.find(in: pop).map { abs($0 - 5_000) < 3 } == [true])
    }
}
