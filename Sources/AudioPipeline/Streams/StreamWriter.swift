import Glibc

/// Writes audio into a pipe, FIFO or socket, as WAV or raw PCM, without ever waiting for its reader: what the reader
/// does not take at once is kept, up to a bound, and the oldest is dropped beyond it.
public final class StreamWriter {
    /// What it is called in messages.
    public let name: String
    /// Samples that were dropped because the reader was too slow.
    public private(set) var droppedSamples = 0
    private let descriptor: Int32
    private var waiting: [UInt8] = []
    /// Bytes at the front of `waiting` that belong to the header.
    private var headerLeft = 0
    private var isClosed = false

    /// Bytes kept for a slow reader: 10 s.
    private static let bound = 10 * 2 * AudioFormat.sampleRate

    /// - Parameters:
    ///   - descriptor: open for writing; it is made non-blocking, and is not closed.
    ///   - isWAV: begins with a WAV header whose sizes say "until the end".
    public init(descriptor: Int32, name: String, isWAV: Bool) {
        self.descriptor = descriptor
        self.name = name
        let flags = fcntl(descriptor, F_GETFL)
        if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
        guard isWAV else { return }
        waiting = Self.header
        headerLeft = waiting.count
    }

    /// Appends samples, 48 kHz mono.
    /// - Throws: `AudioFileError.writeFailed` when the reader went away; `.closed` after that.
    public func write(_ samples: [Int16]) throws(AudioFileError) {
        guard !isClosed else { throw .closed(path: name) }
        samples.withUnsafeBytes { waiting += $0 }
        try flush()
        if waiting.count > Self.bound {
            let excess = (waiting.count - Self.bound) / 2
            waiting.removeSubrange(headerLeft..<(headerLeft + 2 * excess))
            droppedSamples += excess
        }
    }

    /// Hands what waits to the reader, giving it up to a second.
    public func close() throws(AudioFileError) {
        guard !isClosed else { return }
        for _ in 0..<50 where !waiting.isEmpty {
            var target = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&target, 1, 20)
            try flush()
        }
        isClosed = true
    }

    private func flush() throws(AudioFileError) {
        var done = 0
        var failure: Int32 = 0
        waiting.withUnsafeBytes { bytes in
            while done < bytes.count, failure == 0 {
                let result = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if result >= 0 { done += result } else if errno != EINTR { failure = errno }
            }
        }
        // An even number of bytes is dropped later, so that a sample that was split stays whole.
        waiting.removeFirst(done)
        headerLeft = max(0, headerLeft - done)
        if failure != 0, failure != EAGAIN {
            isClosed = true
            throw .writing(name, errno: failure)
        }
    }

    private static var header: [UInt8] {
        var bytes: [UInt8] = Array("RIFF".utf8) + [255, 255, 255, 255] + Array("WAVEfmt ".utf8)
        func number(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
        }
        number(UInt32(16))
        number(UInt16(1))
        number(UInt16(1))
        number(UInt32(AudioFormat.sampleRate))
        number(UInt32(2 * AudioFormat.sampleRate))
        number(UInt16(2))
        number(UInt16(16))
        return bytes + Array("data".utf8) + [255, 255, 255, 255]
    }
}
