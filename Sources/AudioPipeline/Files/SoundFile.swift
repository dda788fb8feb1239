import CSndfile
import Glibc

/// An open file of libsndfile. Owns its handle.
final class SoundFile {
    let path: String
    let format: AudioFileFormat
    /// `SF_FORMAT_...` of container and encoding.
    let rawFormat: Int32
    let probe: ContainerProbe?
    /// What each channel is (`SF_CHANNEL_MAP_...`); empty where the file does not say.
    let channelMap: [Int32]
    private let handle: OpaquePointer
    private let bytes: FileBytes

    /// Opens `path`.
    ///
    /// - Throws: every case of `AudioFileError` that concerns reading, except `empty`.
    init(path: String) throws(AudioFileError) {
        let bytes = try FileBytes(path: path)
        let probe = ContainerProbe.probe(bytes)
        if let probe, probe.declaredBytes == nil, let size = UInt32(exactly: probe.presentBytes), size > 0 {
            // Left open by a program that did not live to fill it in: libsndfile wants to see a length.
            for (offset, value) in probe.openSizes(data: size) { bytes.replace(at: offset, with: value) }
        }
        var info = SF_INFO()
        let handle = try Self.openHandle(bytes, info: &info, probe: probe, path: path)
        self.path = path
        self.bytes = bytes
        self.handle = handle
        self.probe = probe
        rawFormat = info.format
        let known = info.frames >= 0 && info.frames < Int64.max / 2
        format = AudioFileFormat(
            sampleRate: Int(info.samplerate), channels: Int(info.channels),
            frames: known ? Int(info.frames) : nil, encoding: Self.encodingName(info.format))
        var map = [Int32](repeating: 0, count: Int(info.channels))
        let mapSize = Int32(map.count * MemoryLayout<Int32>.size)
        channelMap = sf_command(handle, Int32(SFC_GET_CHANNEL_MAP_INFO), &map, mapSize) != 0 ? map : []
    }

    deinit {
        sf_close(handle)
    }

    /// Reads up to `frames` interleaved frames, normalised to -1...1. Returns how many there were; fewer than asked
    /// for at the end.
    func read(into buffer: UnsafeMutablePointer<Float>, frames: Int) throws(AudioFileError) -> Int {
        let count = sf_readf_float(handle, buffer, sf_count_t(frames))
        if count < frames, bytes.failure != 0 {
            throw .readFailed(path: path, reason: String(cString: strerror(bytes.failure)))
        }
        return max(0, Int(count))
    }

    private static func openHandle(
        _ bytes: FileBytes, info: inout SF_INFO, probe: ContainerProbe?, path: String
    ) throws(AudioFileError) -> OpaquePointer {
        var callbacks = FileBytes.callbacks
        let context = Unmanaged.passUnretained(bytes).toOpaque()
        guard let handle = sf_open_virtual(&callbacks, Int32(SFM_READ), &info, context) else {
            if bytes.failure != 0 {
                throw .readFailed(path: path, reason: String(cString: strerror(bytes.failure)))
            }
            if let probe {
                if probe.endsInHeader {
                    throw .notAudio(path: path, reason: "the file ends inside its header")
                }
                if probe.presentBytes == 0 && !probe.lacksEndOfStream { throw .empty(path: path) }
            }
            var reason = String(cString: sf_strerror(nil))
            while let last = reason.last, last == "." || last.isWhitespace { reason.removeLast() }
            throw .notAudio(path: path, reason: reason)
        }
        return handle
    }

    private static func encodingName(_ format: Int32) -> String {
        [format & Int32(SF_FORMAT_TYPEMASK), format & Int32(SF_FORMAT_SUBMASK)]
            .compactMap { value -> String? in
                var info = SF_FORMAT_INFO(format: value, name: nil, extension: nil)
                let size = Int32(MemoryLayout<SF_FORMAT_INFO>.size)
                guard sf_command(nil, Int32(SFC_GET_FORMAT_INFO), &info, size) == 0, let name = info.name else {
                    return nil
                }
                return String(cString: name)
            }
            .joined(separator: ", ")
    }
}
