import Foundation
import LoopCore
import TestDevices
import Testing

@testable import AudioPipeline

@Suite(.serialized) struct CaptureDeviceTests {
    @Test func deliversEverySampleInRealTime() throws {
        let source = (0..<96_000).map { Int16(truncatingIfNeeded: $0 &* 31 &+ 7) | 1 }
        let started = MonotonicTime.now
        let device = try CaptureDevice(name: try TestPCMs.speech(source))
        defer { device.stop() }
        #expect(device.configuration.rate == 48_000)
        #expect(device.configuration.channels == 1)
        #expect(device.configuration.periodFrames == 480)
        var received: [Int16] = []
        while received.count < 48_000, MonotonicTime.now - started < .seconds(5) {
            usleep(5_000)
            received += device.ring.read(48_000)
        }
        let elapsed = (MonotonicTime.now - started).inSeconds
        #expect(Array(received.prefix(480)).filter { $0 != 0 }.count > 0)
        // The beginning is not faded: nothing went before it.
        #expect(received == Array(source.prefix(received.count)))
        #expect(elapsed > 0.9 && elapsed < 1.5, "1 s of sound took \(elapsed) s")
        let statistics = device.statistics
        #expect(statistics.silentFrames == 0)
        #expect(statistics.droppedFrames == 0)
        #expect(statistics.isPresent)
        print(statistics)
    }

    @Test func tellsWhatIsWrong() throws {
        try #require(TestPCMs.isReady)
        #expect(throws: AudioDeviceError.self) { try CaptureDevice(name: "no-such-thing") }
        do { _ = try CaptureDevice(name: "no-such-thing") } catch { print(error) }
        do { _ = try CaptureDevice(name: "hw:0") } catch { print(error) }
        do { _ = try CaptureDevice(name: "default") } catch { print(error) }
        do { _ = try CaptureDevice(name: "nowhere") } catch { print(error) }
        do { _ = try PlaybackDevice(name: "pulse") } catch { print(error) }
        for d in AudioDeviceInfo.all() { print(d) }
    }
}
