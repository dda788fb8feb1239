import CSndfile
import Foundation
import Testing

@testable import AudioPipeline

@Suite struct AudioFileReaderTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func readAll(_ path: String, step: Int = 960) throws -> (samples: [Int16], reader: AudioFileReader) {
        let reader = try AudioFileReader(path: path)
        var samples: [Int16] = []
        while true {
            let part = try reader.read(frames: step)
            samples += part
            if part.isEmpty { return (samples, reader) }
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var format: Int
        var rate: Int
        var channels = 1
        /// How far frequency (Hz) and level (dB) may be off, and the alignment (samples).
        var levelTolerance = 0.1
        var lagTolerance = 0
        /// Lossy formats may add a little at the ends.
        var lengthTolerance = 0
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "wav16-48k", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 48_000),
        Case(name: "wav16-44k1", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 44_100),
        Case(name: "wav16-4k", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 4_000),
        Case(name: "wav16-11025", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 11_025),
        Case(name: "wav16-16k", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 16_000),
        Case(name: "wav16-22050", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 22_050),
        Case(name: "wav16-44101", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 44_101),
        Case(name: "wav24-96k", format: SF_FORMAT_WAV | SF_FORMAT_PCM_24, rate: 96_000, channels: 2),
        Case(name: "wav32-192k", format: SF_FORMAT_WAV | SF_FORMAT_PCM_32, rate: 192_000),
        Case(name: "wavfloat-384k", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: 384_000, channels: 2),
        Case(name: "wavu8", format: SF_FORMAT_WAV | SF_FORMAT_PCM_U8, rate: 22_050),
        Case(name: "ulaw-8k", format: SF_FORMAT_WAV | SF_FORMAT_ULAW, rate: 8_000),
        Case(name: "alaw-8k", format: SF_FORMAT_WAV | SF_FORMAT_ALAW, rate: 8_000),
        Case(name: "au-ulaw", format: SF_FORMAT_AU | SF_FORMAT_ULAW, rate: 8_000),
        Case(name: "rf64", format: SF_FORMAT_RF64 | SF_FORMAT_PCM_16, rate: 48_000),
        Case(name: "aiff16", format: SF_FORMAT_AIFF | SF_FORMAT_PCM_16, rate: 32_000, channels: 2),
        Case(name: "aiff24", format: SF_FORMAT_AIFF | SF_FORMAT_PCM_24, rate: 48_000),
        Case(name: "caf", format: SF_FORMAT_CAF | SF_FORMAT_PCM_16, rate: 24_000),
        Case(name: "flac16", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16, rate: 44_100, channels: 2),
        Case(name: "flac24-96k", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_24, rate: 96_000),
        Case(
            name: "vorbis", format: SF_FORMAT_OGG | SF_FORMAT_VORBIS, rate: 44_100, channels: 2, levelTolerance: 0.5,
            lagTolerance: 1),
        Case(
            name: "opus", format: SF_FORMAT_OGG | SF_FORMAT_OPUS, rate: 48_000, levelTolerance: 0.7, lagTolerance: 2),
    ]

    @Test(arguments: cases) func tonesKeepFrequencyLevelLengthAndPlace(_ item: Case) throws {
        let path = folder.path(item.name)
        let frames = item.rate + 7  // not a round number
        try SoundFileWriter.write(
            path, format: item.format, rate: item.rate, channels: item.channels, frames: frames,
            sample: SoundFileWriter.sine(440, rate: item.rate))
        let (samples, reader) = try readAll(path)
        #expect(reader.format.sampleRate == item.rate)
        #expect(reader.format.channels == item.channels)
        #expect(reader.warnings == [])
        let expected = (frames * 48_000 + item.rate - 1) / item.rate
        #expect(abs(samples.count - expected) <= item.lengthTolerance)
        let middle = Array(samples[4_800..<43_200])
        #expect(abs(Signals.frequency(of: middle) - 440) < 0.2)
        #expect(abs(Signals.level(of: middle) + 6) < item.levelTolerance)
        let ideal = Signals.tone(440, frames: 48_000)
        let lag = Signals.lag(of: samples, behind: ideal, range: -40...40, from: 9_600, length: 2_400)
        #expect(abs(lag) <= item.lagTolerance)
    }

    @Test func fortyEightKilohertzMonoIsBitExact() throws {
        var generator = SeededGenerator(seed: 1)
        let original = (0..<10_001).map { _ in Int16.random(in: .min ... .max, using: &generator) }
        let path = folder.path("exact.wav")
        let writer = try WAVWriter(path: path)
        try writer.write(original)
        try writer.close()
        for step in [1, 480, 7_777] {
            let (samples, reader) = try readAll(path, step: step)
            #expect(samples == original)
            #expect(reader.clippedSamples == 0)
        }
    }

    /// An impulse stays where it is at every rate, at the start and at the end of the file alike.
    @Test(arguments: [8_000, 11_025, 16_000, 22_050, 44_100, 96_000]) func impulsesStayInPlace(rate: Int) throws {
        let path = folder.path("impulse.wav")
        let places = [0, rate / 10, rate - 1]
        try SoundFileWriter.write(
            path, format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: rate, channels: 1, frames: rate
        ) { frame, _ in places.contains(frame) ? 0.9 : 0 }
        let (samples, _) = try readAll(path)
        #expect(samples.count == 48_000)
        for place in places {
            let ideal = Double(place) * 48_000 / Double(rate)
            let range = max(0, Int(ideal) - 40)..<min(samples.count, Int(ideal) + 41)
            let peak = range.max { abs(Int(samples[$0])) < abs(Int(samples[$1])) } ?? -1
            #expect(abs(Double(peak) - ideal) <= 0.51)
        }
    }

    @Test func resamplingIsClean() throws {
        // A 1 kHz tone from 44.1 kHz must have nothing else in it: SNR against the ideal tone.
        let path = folder.path("clean.wav")
        try SoundFileWriter.write(
            path, format: SF_FORMAT_WAV | SF_FORMAT_PCM_24, rate: 44_100, channels: 1, frames: 44_100,
            sample: SoundFileWriter.sine(1_000, rate: 44_100))
        let (samples, _) = try readAll(path)
        let ideal = Signals.tone(1_000, frames: 48_000)
        #expect(Signals.snr(of: samples[2_400..<45_600], against: ideal[2_400..<45_600]) > 75)
    }

    @Test(arguments: [SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, SF_FORMAT_FLAC | SF_FORMAT_PCM_24])
    func surroundKeepsTheCentre(format: Int) throws {
        // 96 kHz, 24 bit, 5.1: speech is in the centre channel, a rumble in the LFE.
        let map = [
            SF_CHANNEL_MAP_LEFT, SF_CHANNEL_MAP_RIGHT, SF_CHANNEL_MAP_CENTER, SF_CHANNEL_MAP_LFE,
            SF_CHANNEL_MAP_REAR_LEFT, SF_CHANNEL_MAP_REAR_RIGHT,
        ].map { Int32($0) }
        let path = folder.path("surround")
        try SoundFileWriter.write(
            path, format: format, rate: 96_000, channels: 6, frames: 96_000,
            map: format & SF_FORMAT_TYPEMASK == SF_FORMAT_WAVEX ? map : []
        ) { frame, channel in
            switch channel {
            case 2: Float(0.5 * sin(2 * .pi * 500 * Double(frame) / 96_000))
            case 3: Float(0.9 * sin(2 * .pi * 50 * Double(frame) / 96_000))
            default: 0
            }
        }
        let (samples, reader) = try readAll(path)
        #expect(reader.format.channels == 6)
        #expect(samples.count == 48_000)
        let middle = Array(samples[4_800..<43_200])
        #expect(abs(Signals.frequency(of: middle) - 500) < 0.5)
        #expect(abs(Signals.level(of: middle) - (-6.02 - 3.01)) < 0.1)
    }

    @Test func vorbisSurroundHasItsOwnOrder() throws {
        let path = folder.path("surround.ogg")
        try SoundFileWriter.write(
            path, format: SF_FORMAT_OGG | SF_FORMAT_VORBIS, rate: 48_000, channels: 6, frames: 48_000
        ) { frame, channel in
            // Vorbis: left, centre, right, surround left and right, LFE.
            channel == 1 ? Float(0.5 * sin(2 * .pi * 500 * Double(frame) / 48_000)) : 0
        }
        let (samples, _) = try readAll(path)
        #expect(abs(Signals.level(of: Array(samples[9_600..<38_400])) - (-6.02 - 3.01)) < 0.7)
    }

    @Test func loudFloatFilesAreLimitedAndCounted() throws {
        let path = folder.path("loud.wav")
        try SoundFileWriter.write(
            path, format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: 48_000, channels: 1, frames: 1_000
        ) { frame, _ in frame < 10 ? 1.5 : frame < 15 ? .nan : frame == 20 ? -.infinity : 0.25 }
        let (samples, reader) = try readAll(path)
        #expect(samples[0] == .max)
        #expect(samples[12] == 0)
        #expect(samples[500] == 8_192)
        #expect(reader.clippedSamples == 10)
        #expect(
            reader.warnings == [
                .clipped(path: path, samples: 10), .notANumber(path: path, samples: 6),
            ])
    }

    // MARK: Bad input

    private func failure(_ path: String) -> AudioFileError? {
        do throws(AudioFileError) {
            _ = try AudioFileReader(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func missing() {
        let path = folder.path("none.wav")
        #expect(failure(path) == .notFound(path: path))
        #expect(failure(folder.path("none/none.wav")) == .notFound(path: folder.path("none/none.wav")))
    }

    @Test func directory() {
        #expect(failure(folder.url.path) == .isDirectory(path: folder.url.path))
    }

    @Test func pipeDoesNotHang() throws {
        let path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        #expect(failure(path) == .notRegularFile(path: path))
    }

    @Test(.disabled(if: getuid() == 0, "root may read everything")) func permission() throws {
        let path = try folder.write([1, 2, 3], "secret.wav")
        chmod(path, 0)
        #expect(failure(path) == .unreadable(path: path))
    }

    @Test func notAudio() throws {
        let texts = [
            "Hello, this is a text file.\n", "{\"json\": true}", "%PDF-1.7\n%....", "<html></html>", "RIFF", "fLaC",
            "OggS",
        ]
        for (index, text) in texts.enumerated() {
            let path = try folder.write(Array(text.utf8), "text\(index)")
            guard case .notAudio = failure(path) else {
                Issue.record("\(text): \(String(describing: failure(path)))")
                continue
            }
        }
        var generator = SeededGenerator(seed: 7)
        let noise = (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let path = try folder.write(noise, "noise")
        guard case .notAudio = failure(path) else {
            Issue.record("noise: \(String(describing: failure(path)))")
            return
        }
    }

    @Test func empty() throws {
        let nothing = try folder.write([], "nothing.wav")
        #expect(failure(nothing) == .empty(path: nothing))
        for (name, format) in [
            ("a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16), ("a.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16),
            ("a.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16), ("a.au", SF_FORMAT_AU | SF_FORMAT_ULAW),
        ] {
            let path = folder.path(name)
            try SoundFileWriter.write(path, format: format, rate: 16_000, channels: 1, frames: 0) { _, _ in 0 }
            #expect(failure(path) == .empty(path: path), "\(name)")
        }
    }

    @Test func unsupportedRate() throws {
        let path = folder.path("slow.wav")
        try SoundFileWriter.write(
            path, format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 1_000, channels: 1, frames: 100
        ) { _, _ in 0 }
        guard case .unsupported = failure(path) else {
            Issue.record("\(String(describing: failure(path)))")
            return
        }
    }

    @Test(arguments: [
        ("cut.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16), ("cut.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16),
        ("cut.au", SF_FORMAT_AU | SF_FORMAT_PCM_16), ("cut.rf64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16),
        ("cut.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16),
    ]) func truncatedFilesAreReadAndTold(name: String, format: Int) throws {
        let path = folder.path(name)
        var generator = SeededGenerator(seed: 3)
        try SoundFileWriter.write(path, format: format, rate: 16_000, channels: 1, frames: 16_000) { _, _ in
            Float.random(in: -0.5...0.5, using: &generator)
        }
        let size = try #require(FileManager.default.contents(atPath: path)?.count)
        truncate(path, off_t(size / 2))
        let (samples, reader) = try readAll(path)
        #expect(samples.count > 8_000 && samples.count < 25_000)
        guard case .truncated(path, let missing?, 16_000)? = reader.warnings.first else {
            Issue.record("\(reader.warnings)")
            return
        }
        #expect(abs(missing - (16_000 - samples.count / 3)) <= 1)
    }

    @Test func truncatedOggIsTold() throws {
        let path = folder.path("cut.ogg")
        var generator = SeededGenerator(seed: 3)
        try SoundFileWriter.write(
            path, format: SF_FORMAT_OGG | SF_FORMAT_VORBIS, rate: 44_100, channels: 1, frames: 441_000
        ) { _, _ in Float.random(in: -0.5...0.5, using: &generator) }
        let size = try #require(FileManager.default.contents(atPath: path)?.count)
        truncate(path, off_t(size / 2))
        let (samples, reader) = try readAll(path)
        #expect(samples.count > 48_000)
        #expect(reader.warnings.contains { if case .truncated = $0 { true } else { false } })
    }

    @Test func anUnfinishedHeaderIsNoTruncation() throws {
        // Programs that stream to a pipe leave 0 or 0xFFFFFFFF as the size of the data.
        let source = folder.path("whole.wav")
        let writer = try WAVWriter(path: source)
        try writer.write(Signals.tone(440, frames: 4_800))
        try writer.close()
        var bytes = try [UInt8](#require(FileManager.default.contents(atPath: source)))
        for value: UInt8 in [0, 0xFF] {
            bytes.replaceSubrange(76..<80, with: [value, value, value, value])
            bytes.replaceSubrange(4..<8, with: [value, value, value, value])
            let path = try folder.write(bytes, "open\(value).wav")
            let (samples, reader) = try readAll(path)
            #expect(samples.count == 4_800)
            #expect(reader.warnings == [])
        }
    }

    @Test func brokenHeadersNeverCrash() throws {
        let source = folder.path("fuzz.wav")
        try SoundFileWriter.write(
            source, format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 16_000, channels: 2, frames: 200,
            sample: SoundFileWriter.sine(440, rate: 16_000))
        let bytes = try [UInt8](#require(FileManager.default.contents(atPath: source)))
        var generator = SeededGenerator(seed: 11)
        for round in 0..<300 {
            var broken = bytes
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                broken[Int.random(in: 0..<60, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if round % 3 == 0 { broken.removeLast(Int.random(in: 0..<broken.count, using: &generator)) }
            let path = try folder.write(broken, "fuzz")
            _ = try? readAll(path)
        }
    }

    /// Two hours of 8 kHz u-law, mostly a hole in the file: the first ten minutes, in bounded memory.
    @Test func twoHoursInFlatMemory() throws {
        let path = folder.path("long.wav")
        try SoundFileWriter.write(
            path, format: SF_FORMAT_WAV | SF_FORMAT_ULAW, rate: 8_000, channels: 1, frames: 8_000
        ) { _, _ in 0 }
        var bytes = try [UInt8](#require(FileManager.default.contents(atPath: path)))
        let dataBytes = 2 * 3_600 * 8_000
        let header = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound + 4
        for (offset, value) in [(4, header - 8 + dataBytes), (header - 4, dataBytes)] {
            for byte in 0..<4 { bytes[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
        }
        _ = try folder.write(bytes, "long.wav")
        truncate(path, off_t(header + dataBytes))

        let reader = try AudioFileReader(path: path)
        #expect(reader.format.duration == .seconds(7_200))
        for _ in 0..<600 {
            #expect(try reader.read(frames: 48_000).count == 48_000)
            #expect(reader.storageSamples < 250_000)
        }
        #expect(reader.framesRead == 600 * 48_000)
        #expect(!reader.warnings.contains { if case .truncated = $0 { true } else { false } })
    }
}
