import Glibc

/// Writes a 16-bit PCM WAV file that is complete at every moment: each write appends its samples and then brings
/// the sizes in the header up to date, so after a crash, a kill or a full disk the file plays to its end. Beyond
/// 4 GiB (12 hours of 48 kHz mono) it becomes an RF64 file (EBU Tech 3306), for which the header keeps room.
public final class WAVWriter {
    public let path: String
    public let sampleRate: Int
    public let channels: Int
    /// Sample frames written so far.
    public private(set) var framesWritten = 0

    static let headerSize = 80
    private let riffLimit: UInt64
    private var descriptor: Int32
    private var dataBytes: UInt64 = 0

    /// Creates or replaces the file at `path`.
    ///
    /// - Parameters:
    ///   - sampleRate: Hz, 1 to 768,000.
    ///   - channels: 1 to 32; the samples of a frame follow one another.
    ///   - input: a file that must not be overwritten, whatever its name (links are seen through).
    /// - Throws: `AudioFileError`: `parentNotFound`, `isDirectory`, `notWritable`, `overwritesInput`,
    ///   `notRegularFile`, `diskFull`, `writeFailed`.
    public convenience init(
        path: String, sampleRate: Int = AudioFormat.sampleRate, channels: Int = 1, protecting input: String? = nil
    ) throws(AudioFileError) {
        try self.init(
            path: path, sampleRate: sampleRate, channels: channels, protecting: input, riffLimit: 0xFFFF_FFFF)
    }

    /// - Parameter riffLimit: the size in bytes from which the file is RF64 (a test's is smaller).
    init(
        path: String, sampleRate: Int, channels: Int, protecting input: String?, riffLimit: UInt64
    ) throws(AudioFileError) {
        self.path = path
        self.sampleRate = min(max(sampleRate, 1), 768_000)
        self.channels = min(max(channels, 1), 32)
        self.riffLimit = riffLimit
        // Opened without emptying it, because it may turn out to be the input; non-blocking because of pipes.
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw .creating(path, errno: errno) }
        do {
            try checkTarget(input: input)
            try writeHeader()
        } catch {
            Glibc.close(descriptor)
            descriptor = -1
            throw error
        }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// How long the recording is.
    public var duration: Duration { .nanoseconds(Int64(framesWritten) * 1_000_000_000 / Int64(sampleRate)) }

    /// Appends samples (interleaved where there are several channels; whole frames).
    ///
    /// - Throws: `AudioFileError.diskFull`, `.writeFailed`; after either the file is closed, with what went before
    ///   intact. `.closed` after that or after `close()`.
    public func write(_ samples: [Int16]) throws(AudioFileError) {
        guard descriptor >= 0 else { throw .closed(path: path) }
        let whole = samples.count / channels * channels
        guard whole > 0 else { return }
        let little = samples.map(\.littleEndian)
        let failure = little.withUnsafeBytes { append(UnsafeRawBufferPointer(rebasing: $0[..<(whole * 2)])) }
        framesWritten = Int(dataBytes) / (2 * channels)
        do throws(AudioFileError) {
            if dataBytes > 0 { try writeHeader() }
            if let failure { throw failure }
        } catch {
            Glibc.close(descriptor)
            descriptor = -1
            throw error
        }
    }

    /// Closes the file. Closing again does nothing.
    ///
    /// - Throws: `AudioFileError.diskFull`, `.writeFailed` where the system reports a late failure.
    public func close() throws(AudioFileError) {
        guard descriptor >= 0 else { return }
        let result = Glibc.close(descriptor)
        descriptor = -1
        if result != 0 && errno != EINTR { throw .writing(path, errno: errno) }
    }

    private func checkTarget(input: String?) throws(AudioFileError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .creating(path, errno: errno) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG || kind == S_IFCHR else { throw .notRegularFile(path: path) }
        if let input {
            var other = stat()
            if stat(input, &other) == 0, other.st_dev == status.st_dev, other.st_ino == status.st_ino {
                throw .overwritesInput(path: path)
            }
        }
        guard kind == S_IFREG, ftruncate(descriptor, 0) != 0 else { return }
        throw .creating(path, errno: errno)
    }

    /// Appends bytes after the samples so far. On an error, whole frames that did fit stay.
    private func append(_ bytes: UnsafeRawBufferPointer) -> AudioFileError? {
        var done = 0
        var failure: AudioFileError?
        let start = UInt64(Self.headerSize) + dataBytes
        while done < bytes.count, failure == nil, let base = bytes.baseAddress {
            let result = pwrite(descriptor, base + done, bytes.count - done, off_t(start) + done)
            if result > 0 {
                done += result
            } else if result == 0 || errno != EINTR {
                failure = .writing(path, errno: result == 0 ? ENOSPC : errno)
            }
        }
        let frameBytes = 2 * channels
        dataBytes += UInt64(done / frameBytes * frameBytes)
        if failure != nil { _ = ftruncate(descriptor, off_t(UInt64(Self.headerSize) + dataBytes)) }
        return failure
    }

    private func writeHeader() throws(AudioFileError) {
        let header = makeHeader()
        var done = 0
        while done < header.count {
            let result = header.withUnsafeBytes { bytes in
                bytes.baseAddress.map { pwrite(descriptor, $0 + done, bytes.count - done, off_t(done)) } ?? 0
            }
            if result > 0 {
                done += result
            } else if result == 0 || errno != EINTR {
                throw .writing(path, errno: result == 0 ? ENOSPC : errno)
            }
        }
    }

    /// RIFF header, a `JUNK` chunk that can turn into the `ds64` chunk of RF64, `fmt ` and the start of `data`.
    private func makeHeader() -> [UInt8] {
        let riffBytes = UInt64(Self.headerSize - 8) + dataBytes
        let long = riffBytes > riffLimit
        var header: [UInt8] = []
        header.reserveCapacity(Self.headerSize)
        func text(_ value: StaticString) {
            value.withUTF8Buffer { header.append(contentsOf: $0) }
        }
        func number(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { header.append(contentsOf: $0) }
        }
        text(long ? "RF64" : "RIFF")
        number(long ? .max : UInt32(riffBytes))
        text("WAVE")
        text(long ? "ds64" : "JUNK")
        number(UInt32(28))
        number(long ? riffBytes : 0)
        number(long ? dataBytes : 0)
        number(long ? dataBytes / UInt64(2 * channels) : 0)
        number(UInt32(0))
        text("fmt ")
        number(UInt32(16))
        number(UInt16(1))
        number(UInt16(channels))
        number(UInt32(sampleRate))
        number(UInt32(sampleRate * channels * 2))
        number(UInt16(channels * 2))
        number(UInt16(16))
        text("data")
        number(long ? .max : UInt32(dataBytes))
        return header
    }
}
