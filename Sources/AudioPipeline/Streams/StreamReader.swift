import Glibc

/// Reads audio from a pipe, FIFO or socket without ever waiting: what has not come yet is simply not there yet. At
/// most a quarter of a second is read ahead, so that the writer is held back to real time.
public final class StreamReader: SampleReader {
    public enum Format: Sendable, Equatable {
        /// WAV if it begins like WAV, otherwise raw in the given form.
        case automatic(RawAudioFormat)
        case wav
        case raw(RawAudioFormat)
    }

    /// What it is called in messages.
    public let name: String
    private let descriptor: Int32
    private let wanted: Format
    private var format: RawAudioFormat?
    private var resampler: Resampler?
    private var bytes: [UInt8] = []
    private var pending: [Int16] = []
    private var hasEnded = false

    private static let chunk = 16_384
    private static let readAhead = AudioFormat.sampleRate / 4

    /// - Parameter descriptor: open for reading; it is made non-blocking, and is not closed.
    public init(descriptor: Int32, name: String, format: Format = .automatic(RawAudioFormat())) {
        self.descriptor = descriptor
        self.name = name
        wanted = format
        let flags = fcntl(descriptor, F_GETFL)
        if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
    }

    public var warnings: [AudioFileWarning] { [] }
    public var isAtEnd: Bool { hasEnded && pending.isEmpty }

    public func read(frames: Int) throws(AudioFileError) -> [Int16] {
        while !hasEnded, pending.count < max(frames, Self.readAhead) {
            guard try fill() else { break }
        }
        let count = min(max(0, frames), pending.count)
        let samples = Array(pending[..<count])
        pending.removeFirst(count)
        return samples
    }

    /// Reads what is there. Returns false when that is nothing.
    private func fill() throws(AudioFileError) -> Bool {
        var failure: Int32 = 0
        let chunk = [UInt8](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
            let result = Glibc.read(descriptor, buffer.baseAddress, Self.chunk)
            if result < 0 { failure = errno }
            count = max(0, result)
        }
        if failure == EAGAIN || failure == EINTR { return false }
        guard failure == 0 else {
            throw .readFailed(path: name, reason: String(cString: strerror(failure)))
        }
        bytes += chunk
        if chunk.isEmpty { hasEnded = true }
        try convert()
        return !chunk.isEmpty
    }

    private func convert() throws(AudioFileError) {
        if format == nil { format = try recognise() }
        guard let format else {
            guard hasEnded else { return }
            throw bytes.isEmpty ? .empty(path: name) : .notAudio(path: name, reason: "it ends in its header")
        }
        let frames = bytes.count / format.frameWidth
        let mono = [Int16](unsafeUninitializedCapacity: frames) { buffer, count in
            bytes.withUnsafeBytes { raw in
                guard frames > 0, let input = raw.baseAddress, let output = buffer.baseAddress else { return }
                format.format.toMono(input, channels: format.channels, frames: frames, into: output)
            }
            count = frames
        }
        bytes.removeFirst(frames * format.frameWidth)
        guard let resampler else {
            pending += mono
            return
        }
        pending += resampler.process(mono)
        if hasEnded { pending += resampler.finish() }
    }

    /// Finds out the format once enough has come; nil before that.
    private func recognise() throws(AudioFileError) -> RawAudioFormat? {
        let isWAV: Bool
        var raw = RawAudioFormat()
        switch wanted {
        case .raw(let given):
            isWAV = false
            raw = given
        case .wav: isWAV = true
        case .automatic(let given):
            guard bytes.count >= 4 || hasEnded else { return nil }
            isWAV = bytes.starts(with: Array("RIFF".utf8))
            raw = given
        }
        if isWAV {
            switch WAVStreamHeader.parse(bytes) {
            case .incomplete: return nil
            case .invalid(let reason): throw .notAudio(path: name, reason: reason)
            case .complete(let found, let offset):
                raw = found
                bytes.removeFirst(offset)
            }
        }
        if bytes.isEmpty, hasEnded { throw .empty(path: name) }
        if raw.rate != AudioFormat.sampleRate { resampler = Resampler(from: raw.rate, to: AudioFormat.sampleRate) }
        return raw
    }
}
