import Foundation
import Testing

@testable import AudioPipeline

/// Sound through pipes.
@Suite struct StreamTests {
    /// A pipe whose ends are closed with it.
    private final class TestPipe {
        let reading: Int32
        private(set) var writing: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            reading = ends[0]
            writing = ends[1]
            signal(SIGPIPE, SIG_IGN)
        }

        func write(_ bytes: [UInt8]) {
            _ = bytes.withUnsafeBytes { Foundation.write(writing, $0.baseAddress, $0.count) }
        }
        func write(_ samples: [Int16]) { write(samples.withUnsafeBytes { Array($0) }) }

        func endWriting() {
            if writing >= 0 { close(writing) }
            writing = -1
        }

        func readAll() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = Foundation.read(reading, &bytes, bytes.count)
            return Array(bytes.prefix(max(0, count)))
        }

        deinit {
            close(reading)
            endWriting()
        }
    }

    @Test func rawSamplesComeAsTheyAre() throws {
        let pipe = try TestPipe()
        let reader = StreamReader(descriptor: pipe.reading, name: "pipe")
        #expect(try reader.read(frames: 960) == [])
        #expect(!reader.isAtEnd)
        let samples = (0..<2_000).map { Int16($0) }
        pipe.write(samples)
        #expect(try reader.read(frames: 960) == Array(samples[..<960]))
        #expect(try reader.read(frames: 5_000) == Array(samples[960...]))
        #expect(!reader.isAtEnd)
        pipe.endWriting()
        #expect(try reader.read(frames: 960) == [])
        #expect(reader.isAtEnd)
    }

    @Test func splitSamplesAndBytes() throws {
        let pipe = try TestPipe()
        let reader = StreamReader(descriptor: pipe.reading, name: "pipe", format: .raw(RawAudioFormat()))
        var read: [Int16] = []
        for byte: UInt8 in [1, 0, 2, 0, 3] {
            pipe.write([byte])
            read += try reader.read(frames: 10)
        }
        #expect(read == [1, 2])
    }

    @Test func wavIsRecognised() throws {
        let pipe = try TestPipe()
        let reader = StreamReader(descriptor: pipe.reading, name: "pipe")
        let tone = Signals.tone(440, frames: 16_000, rate: 16_000)
        // Stereo at 16 kHz, with a chunk before the samples, and sizes that say nothing.
        var header: [UInt8] = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WAVELIST".utf8) + [3, 0, 0, 0, 9, 9, 9, 0]
        header += Array("fmt ".utf8) + [16, 0, 0, 0, 1, 0, 2, 0, 0x80, 0x3e, 0, 0, 0, 0xfa, 0, 0, 4, 0, 16, 0]
        header += Array("data".utf8) + [255, 255, 255, 255]
        for byte in header { pipe.write([byte]) }
        pipe.write(tone.flatMap { [$0, $0] })
        pipe.endWriting()
        var read: [Int16] = []
        while !reader.isAtEnd { read += try reader.read(frames: 960) }
        #expect(read.count == 48_000)
        #expect(abs(Signals.frequency(of: read) - 440) < 1)
    }

    @Test(arguments: [
        [UInt8](), Array("RIFF".utf8), Array("RIFF0000WAVEfmt ".utf8), Array("RIFF0000AVI ".utf8),
        Array("RIFF0000WAVEdata0000".utf8),
        Array("RIFF0000WAVEfmt ".utf8) + [16, 0, 0, 0] + [UInt8](repeating: 0, count: 16),
        Array("RIFF0000WAVEfmt ".utf8) + [255, 255, 255, 127],
    ]) func whatIsNoSoundIsRefused(_ bytes: [UInt8]) throws {
        let pipe = try TestPipe()
        let reader = StreamReader(descriptor: pipe.reading, name: "the pipe", format: .wav)
        pipe.write(bytes)
        pipe.endWriting()
        var failure: AudioFileError?
        do throws(AudioFileError) {
            for _ in 0..<10 where !reader.isAtEnd { _ = try reader.read(frames: 960) }
        } catch { failure = error }
        #expect(failure?.description.contains("the pipe") == true)
    }

    /// The writer is held back to real time: at most a quarter of a second is taken out of the pipe in advance.
    @Test func readsAheadALittleOnly() throws {
        let pipe = try TestPipe()
        let reader = StreamReader(descriptor: pipe.reading, name: "pipe")
        pipe.write([Int16](repeating: 1, count: 30_000))
        _ = try reader.read(frames: 960)
        #expect(pipe.readAll().count > 2 * 5_000)
    }

    @Test func aRecordingThroughASlowPipeIsFilledWithSilence() throws {
        let pipe = try TestPipe()
        var options = AudioFileSource.Options()
        options.leadIn = .zero
        options.trailing = .zero
        let source = AudioFileSource(reader: StreamReader(descriptor: pipe.reading, name: "pipe"), options: options)
        pipe.write([Int16](repeating: 5, count: 1_000))
        #expect(try source.next() == [Int16](repeating: 5, count: 960))
        #expect(try source.next() == [Int16](repeating: 5, count: 40) + [Int16](repeating: 0, count: 920))
        #expect(source.starvedFrames == 920)
        pipe.endWriting()
        #expect(try source.next() == nil)
    }

    @Test func writesRawAndWAV() throws {
        for isWAV in [false, true] {
            let pipe = try TestPipe()
            let writer = StreamWriter(descriptor: pipe.writing, name: "pipe", isWAV: isWAV)
            try writer.write([1, -2, 3])
            try writer.close()
            let bytes = pipe.readAll()
            #expect(bytes.count == (isWAV ? 44 : 0) + 6)
            #expect(Array(bytes.suffix(6)) == [1, 0, 254, 255, 3, 0])
            if isWAV {
                guard case .complete(let format, 44) = WAVStreamHeader.parse(bytes) else {
                    Issue.record("no header")
                    return
                }
                #expect(format == RawAudioFormat())
            }
        }
    }

    @Test func aSlowReaderLosesTheOldestAndThatIsCounted() throws {
        let pipe = try TestPipe()
        let writer = StreamWriter(descriptor: pipe.writing, name: "pipe", isWAV: true)
        let block = [Int16](repeating: 9, count: 48_000)
        for _ in 0..<12 { try writer.write(block) }
        #expect(writer.droppedSamples > 48_000)
        #expect(pipe.readAll().starts(with: Array("RIFF".utf8)))
    }

    @Test func aReaderThatWentAwayIsAnError() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        signal(SIGPIPE, SIG_IGN)
        close(ends[0])
        defer { close(ends[1]) }
        let writer = StreamWriter(descriptor: ends[1], name: "the pipe", isWAV: false)
        var failure: AudioFileError?
        do throws(AudioFileError) { try writer.write([1]) } catch { failure = error }
        #expect(failure?.description.contains("the pipe") == true)
    }

    @Test func rawFormatsAreRead() {
        #expect(RawAudioFormat("s16") == RawAudioFormat())
        #expect(RawAudioFormat("f32le:44100:2") == RawAudioFormat(format: .float, rate: 44_100, channels: 2))
        for text in ["", "s8", "s16:0", "s16:48000:0", "s16:48000:1:1", "s16:x"] {
            #expect(RawAudioFormat(text) == nil)
        }
    }
}
