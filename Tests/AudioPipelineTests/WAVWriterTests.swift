import Foundation
import Testing

@testable import AudioPipeline

@Suite struct WAVWriterTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func failure(_ body: () throws(AudioFileError) -> Void) -> AudioFileError? {
        do throws(AudioFileError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func theFileIsValidAfterEveryWrite() throws {
        let path = folder.path("live.wav")
        let writer = try WAVWriter(path: path)
        let tone = Signals.tone(440, frames: 48_000)
        for index in 0..<100 {
            // Read while it is open, as after a kill.
            let parsed = try #require(ParsedWAV(path: path))
            #expect(parsed.samples.count == index * 480)
            #expect(parsed.riffSize == UInt64(parsed.fileSize - 8))
            #expect(parsed.declaredDataBytes == UInt64(index * 960))
            try writer.write(Array(tone[(index * 480)..<((index + 1) * 480)]))
        }
        #expect(writer.framesWritten == 48_000)
        #expect(writer.duration == .seconds(1))
        try writer.close()
        try writer.close()
        let parsed = try #require(ParsedWAV(path: path))
        #expect(parsed.samples == tone)
        #expect(parsed.sampleRate == 48_000)
        #expect(parsed.channels == 1)
    }

    /// A child process writes a second and is killed before it can close anything.
    @Test func aKilledProcessLeavesAFileThatPlays() async throws {
        let path = folder.path("killed.wav")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let writer = try WAVWriter(path: path)
            let tone = Signals.tone(440, frames: 48_000)
            for start in stride(from: 0, to: 48_000, by: 480) { try writer.write(Array(tone[start..<(start + 480)])) }
            kill(getpid(), SIGKILL)
            try writer.close()
        }
        let reader = try AudioFileReader(path: path)
        #expect(try reader.read(frames: 96_000) == Signals.tone(440, frames: 48_000))
        #expect(reader.warnings == [])
    }

    @Test func droppingTheWriterLosesNothing() throws {
        let path = folder.path("dropped.wav")
        var writer: WAVWriter? = try WAVWriter(path: path)
        try writer?.write(Signals.tone(440, frames: 12_345))
        writer = nil
        #expect(ParsedWAV(path: path)?.samples.count == 12_345)
    }

    @Test func stereoAndOtherRates() throws {
        let path = folder.path("stereo.wav")
        let writer = try WAVWriter(path: path, sampleRate: 16_000, channels: 2)
        try writer.write([1, -1, 2, -2, 3])  // the odd sample is no whole frame
        try writer.close()
        let parsed = try #require(ParsedWAV(path: path))
        #expect(parsed.samples == [1, -1, 2, -2])
        #expect(parsed.channels == 2)
        #expect(parsed.sampleRate == 16_000)
        #expect(writer.framesWritten == 2)
    }

    @Test func anExistingFileIsReplaced() throws {
        let path = try folder.write([UInt8](repeating: 7, count: 100_000), "old.wav")
        let writer = try WAVWriter(path: path)
        try writer.write([1, 2, 3])
        try writer.close()
        #expect(ParsedWAV(path: path)?.samples == [1, 2, 3])
        #expect(ParsedWAV(path: path)?.fileSize == 86)
    }

    @Test func beyondTheRIFFLimitItIsRF64() throws {
        let path = folder.path("big.wav")
        let writer = try WAVWriter(path: path, sampleRate: 48_000, channels: 1, protecting: nil, riffLimit: 10_000)
        let tone = Signals.tone(440, frames: 9_600)
        for start in stride(from: 0, to: 9_600, by: 960) {
            try writer.write(Array(tone[start..<(start + 960)]))
            let parsed = try #require(ParsedWAV(path: path))
            #expect(parsed.riff == (parsed.fileSize - 8 > 10_000 ? "RF64" : "RIFF"))
            #expect(parsed.samples.count == start + 960)
        }
        try writer.close()
        let reader = try AudioFileReader(path: path)
        #expect(try reader.read(frames: 20_000) == tone)
        #expect(reader.warnings == [])
    }

    @Test func theInputIsNeverOverwritten() throws {
        let input = folder.path("in.wav")
        let first = try WAVWriter(path: input)
        try first.write([1, 2, 3])
        try first.close()
        let link = folder.path("link.wav")
        symlink(input, link)
        let hard = folder.path("hard.wav")
        #expect(Glibc.link(input, hard) == 0)
        for path in [input, link, hard] {
            #expect(
                failure { () throws(AudioFileError) in _ = try WAVWriter(path: path, protecting: input) }
                    == .overwritesInput(path: path))
        }
        #expect(ParsedWAV(path: input)?.samples == [1, 2, 3])
    }

    @Test func missingFolder() {
        let path = folder.path("none/out.wav")
        #expect(
            failure { () throws(AudioFileError) in _ = try WAVWriter(path: path) } == .parentNotFound(path: path))
    }

    @Test func folderAsOutput() {
        let path = folder.url.path
        #expect(failure { () throws(AudioFileError) in _ = try WAVWriter(path: path) } == .isDirectory(path: path))
    }

    @Test func pipeAsOutput() throws {
        let path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        #expect(failure { () throws(AudioFileError) in _ = try WAVWriter(path: path) } == .notRegularFile(path: path))
    }

    @Test(.disabled(if: getuid() == 0, "root may write everywhere")) func notWritable() throws {
        let path = try folder.write([], "locked.wav")
        chmod(path, 0o400)
        guard case .notWritable? = failure({ () throws(AudioFileError) in _ = try WAVWriter(path: path) }) else {
            Issue.record("not refused")
            return
        }
    }

    @Test(.enabled(if: access("/dev/full", W_OK) == 0)) func fullDisk() {
        #expect(
            failure { () throws(AudioFileError) in _ = try WAVWriter(path: "/dev/full") }
                == .diskFull(path: "/dev/full"))
    }

    @Test func writingAfterClose() throws {
        let path = folder.path("closed.wav")
        let writer = try WAVWriter(path: path)
        try writer.close()
        #expect(failure { () throws(AudioFileError) in try writer.write([1]) } == .closed(path: path))
    }
}
