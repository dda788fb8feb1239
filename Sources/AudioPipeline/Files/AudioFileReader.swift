/// Reads an audio file as 48 kHz mono, streamed: a file of any length takes the same few kilobytes of memory.
///
/// WAV (PCM, float, u-law, A-law, ADPCM), RF64, FLAC, AIFF, AU, CAF, Ogg Vorbis, Ogg Opus and whatever else
/// libsndfile reads; 4 to 384 kHz, up to 32 channels. Several channels are mixed down (see `Downmix`), other rates
/// resampled without shifting the audio: output sample `n` is at `n / 48000` seconds of the file, and a file of `f`
/// frames at rate `r` gives exactly `ceil(f * 48000 / r)` samples. A 48 kHz mono 16-bit file comes out bit for bit.
public final class AudioFileReader {
    public let path: String
    public let format: AudioFileFormat
    /// 48 kHz samples read so far.
    public private(set) var framesRead = 0
    /// 48 kHz samples so far that were out of range and limited.
    public private(set) var clippedSamples = 0

    private static let blockFrames = 2048
    private static let sampleRates = 4_000...384_000
    private static let maximumChannels = 32

    private let file: SoundFile
    private let downmix: Downmix
    private let resampler: Resampler?
    private var interleaved: [Float]
    private var mono: [Float]
    private var converted: [Float] = []
    private var pending: [Int16] = []
    private var pendingStart = 0
    private var sourceFrames = 0
    private var invalidSamples = 0
    private var ended = false

    /// Opens `path` and reads the first block of it.
    ///
    /// - Throws: `AudioFileError`, every case that concerns reading.
    public init(path: String) throws(AudioFileError) {
        let file = try SoundFile(path: path)
        let format = file.format
        guard Self.sampleRates.contains(format.sampleRate) else {
            throw .unsupported(path: path, reason: "a sample rate of \(format.sampleRate) Hz (4 to 384 kHz are)")
        }
        guard (1...Self.maximumChannels).contains(format.channels) else {
            throw .unsupported(path: path, reason: "\(format.channels) channels (1 to \(Self.maximumChannels) are)")
        }
        if format.sampleRate == AudioFormat.sampleRate {
            resampler = nil
        } else {
            guard let made = Resampler(from: format.sampleRate, to: AudioFormat.sampleRate) else {
                throw .unsupported(path: path, reason: "a sample rate of \(format.sampleRate) Hz")
            }
            resampler = made
        }
        self.path = path
        self.file = file
        self.format = format
        downmix = Downmix(channels: format.channels, map: file.channelMap, format: file.rawFormat)
        interleaved = [Float](repeating: 0, count: Self.blockFrames * format.channels)
        mono = [Float](repeating: 0, count: Self.blockFrames)
        try fill()
        if pending.isEmpty { throw .empty(path: path) }
    }

    /// What is to be told about the file as far as it has been read. A cut-off WAV, AIFF or AU file is known at
    /// once, a cut-off FLAC file when its end is reached.
    public var warnings: [AudioFileWarning] {
        var found: [AudioFileWarning] = []
        if let truncation { found.append(truncation) }
        if clippedSamples > 0 { found.append(.clipped(path: path, samples: clippedSamples)) }
        if invalidSamples > 0 { found.append(.notANumber(path: path, samples: invalidSamples)) }
        return found
    }

    /// Everything has been read.
    public var isAtEnd: Bool { ended && pendingStart == pending.count }

    /// The next samples, 48 kHz mono; fewer than `frames` at the end, and none after it.
    ///
    /// - Throws: `AudioFileError.readFailed`.
    public func read(frames: Int) throws(AudioFileError) -> [Int16] {
        while pending.count - pendingStart < frames && !ended { try fill() }
        let end = min(pending.count, pendingStart + max(0, frames))
        let samples = Array(pending[pendingStart..<end])
        pendingStart = end
        framesRead += samples.count
        return samples
    }

    /// Samples for which memory is held, in all buffers together.
    var storageSamples: Int {
        pending.capacity + interleaved.capacity + mono.capacity + converted.capacity
    }

    private var truncation: AudioFileWarning? {
        if let probe = file.probe, probe.missingBytes > 0 || probe.lacksEndOfStream {
            return .truncated(
                path: path, missingFrames: probe.missingFrames(present: format.frames ?? 0),
                sampleRate: format.sampleRate)
        }
        if ended, let frames = format.frames, sourceFrames < frames {
            return .truncated(path: path, missingFrames: frames - sourceFrames, sampleRate: format.sampleRate)
        }
        return nil
    }

    /// Reads one block of the file and appends what it becomes to `pending`.
    private func fill() throws(AudioFileError) {
        if pendingStart > 0 {
            pending.removeFirst(pendingStart)
            pendingStart = 0
        }
        let count = try readBlock()
        sourceFrames += count
        ended = count < Self.blockFrames
        mixDown(count)
        guard let resampler else {
            append(mono, count: count)
            return
        }
        converted.removeAll(keepingCapacity: true)
        mono.withUnsafeBufferPointer {
            resampler.process(UnsafeBufferPointer(rebasing: $0[..<count]), into: &converted)
        }
        if ended { resampler.finish(into: &converted) }
        append(converted, count: converted.count)
    }

    /// Fills `interleaved` from the file. A short count is the end.
    private func readBlock() throws(AudioFileError) -> Int {
        var total = 0
        while total < Self.blockFrames {
            let offset = total * format.channels
            let wanted = Self.blockFrames - total
            let result = interleaved.withUnsafeMutableBufferPointer { buffer -> Result<Int, AudioFileError> in
                guard let base = buffer.baseAddress else { return .success(0) }
                do throws(AudioFileError) {
                    return .success(try file.read(into: base + offset, frames: wanted))
                } catch {
                    return .failure(error)
                }
            }
            let count = try result.get()
            if count == 0 { break }
            total += count
        }
        return total
    }

    private func mixDown(_ count: Int) {
        var invalid = 0
        interleaved.withUnsafeMutableBufferPointer { buffer in
            for index in 0..<(count * format.channels) {
                let value = buffer[index]
                if !value.isFinite {
                    buffer[index] = 0
                    invalid += 1
                } else if abs(value) > 256 {
                    // Far beyond full scale anyway; limited here so that no filter overflows.
                    buffer[index] = value < 0 ? -256 : 256
                }
            }
        }
        invalidSamples += invalid
        downmix.apply(interleaved, frames: count, into: &mono)
    }

    private func append(_ samples: [Float], count: Int) {
        pending.reserveCapacity(pending.count + count)
        samples.withUnsafeBufferPointer { buffer in
            for index in 0..<count {
                let value = (buffer[index] * 32_768).rounded()
                if value > 32_767 {
                    clippedSamples += 1
                    pending.append(.max)
                } else if value < -32_768 {
                    clippedSamples += 1
                    pending.append(.min)
                } else {
                    pending.append(Int16(value))
                }
            }
        }
    }
}
