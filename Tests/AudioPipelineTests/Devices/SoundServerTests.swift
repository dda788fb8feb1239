import Foundation
import LoopCore
import TestDevices
import Testing

@testable import AudioPipeline

/// With a real sound server: PulseAudio, through ALSA's plug-in for it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct SoundServerTests {
    private func tone(_ seconds: Double) -> [Int16] {
        Signals.tone(440, frames: Int(seconds * 48_000), level: -10)
    }

    @Test func hearsWhatIsSaid() throws {
        let server = try SoundServer()
        let folder = try TemporaryFolder()
        let path = try folder.write(tone(3).withUnsafeBytes { Array($0) }, "tone.raw")
        let device = try CaptureDevice(name: server.microphone)
        defer { device.stop() }
        try server.sayIntoMicrophone(path)
        var heard: [Int16] = []
        for _ in 0..<8 where heard.filter({ abs(Int($0)) > 2_000 }).count < 24_000 {
            heard += capture(device, frames: 24_000, within: .seconds(1))
        }
        let begin = try #require(heard.firstIndex { abs(Int($0)) > 2_000 })
        let steady = Array(heard[(begin + 4_800)...].prefix(24_000))
        #expect(steady.count > 9_600)
        #expect(abs(Signals.frequency(of: steady) - 440) < 2)
        #expect(device.statistics.xruns == 0)
    }

    @Test func playsAndIsHeard() throws {
        let server = try SoundServer()
        let folder = try TemporaryFolder()
        let recorder = try server.recordSpeaker(to: folder.path("speaker.raw"))
        defer { recorder.kill() }
        usleep(300_000)
        let device = try PlaybackDevice(name: server.speaker)
        let sound = tone(0.8)
        #expect(device.ring.write(sound) == sound.count)
        let started = MonotonicTime.now
        while device.ring.count > 0, MonotonicTime.now - started < .seconds(8) { usleep(10_000) }
        usleep(600_000)
        #expect(device.delay < .milliseconds(500))
        device.stop()
        usleep(300_000)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("speaker.raw")))
        let heard = bytes.prefix(bytes.count / 2 * 2).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        let loud = heard.filter { abs(Int($0)) > 1_000 }.count
        #expect(loud > 20_000, "\(loud) of 38400 samples are loud")
        let begin = try #require(heard.firstIndex { abs(Int($0)) > 2_000 })
        // A machine that is busy may leave gaps: most pieces of 50 ms are the tone.
        let pieces = stride(from: begin, to: heard.count - 2_400, by: 2_400).prefix(14).count { start in
            abs(Signals.frequency(of: Array(heard[start..<start + 2_400])) - 440) < 15
        }
        #expect(pieces >= 8)
    }

    /// The server dies and comes back, as a USB microphone that is unplugged and plugged in again: the flow goes on in
    /// real time, with silence in the gap, and the sound returns.
    @Test func aLostDeviceIsFoundAgain() throws {
        let server = try SoundServer()
        let device = try CaptureDevice(name: server.microphone)
        defer { device.stop() }
        let started = MonotonicTime.now
        var received = capture(device, frames: 48_000, within: .seconds(3)).count
        server.stop()
        received += capture(device, frames: 72_000, within: .seconds(4)).count
        #expect(!device.statistics.isPresent)
        try server.start()
        let deadline = MonotonicTime.now + .seconds(8)
        while device.statistics.reconnects == 0, MonotonicTime.now < deadline {
            received += capture(device, frames: 4_800, within: .milliseconds(200)).count
        }
        #expect(device.statistics.reconnects == 1)
        #expect(device.statistics.isPresent)
        received += capture(device, frames: 24_000, within: .seconds(3)).count
        let elapsed = (MonotonicTime.now - started).inSeconds
        #expect(abs(Double(received) / 48_000 - elapsed) < 0.6, "\(received) samples in \(elapsed) s")
        #expect(device.statistics.silentFrames > 24_000)
    }
}
