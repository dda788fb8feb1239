import CSndfile
import Glibc

/// An open file of libsndfile. Owns the descriptor and the handle.
final class SoundFile {
    let path: String
    let format: AudioFileFormat
    /// `SF_FORMAT_...` of container and encoding.
    let rawFormat: Int32
    let probe: ContainerProbe?
    /// What each channel is (`SF_CHANNEL_MAP_...`); empty where the file does not say.
    let channelMap: [Int32]
    private let handle: OpaquePointer
    private let descriptor: Int32

    /// Opens `path`.
    ///
    /// - Throws: every case of `AudioFileError` that concerns reading, except `empty`.
    init(path: String) throws(AudioFileError) {
        // Non-blocking, so that a pipe without a writer does not hang; it makes no difference to regular files.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .opening(path, errno: errno) }
        do throws(AudioFileError) {
            let size = try Self.size(of: descriptor, path: path)
            let probe = ContainerProbe.probe(descriptor: descriptor, size: size)
            var info = SF_INFO()
            let handle = try Self.openHandle(descriptor, info: &info, probe: probe, path: path)
            self.path = path
            self.descriptor = descriptor
            self.handle = handle
            self.probe = probe
            rawFormat = info.format
            let known = info.frames >= 0 && info.frames < Int64.max / 2
            format = AudioFileFormat(
                sampleRate: Int(info.samplerate), channels: Int(info.channels),
                frames: known ? Int(info.frames) : nil, encoding: Self.encodingName(info.format))
            var map = [Int32](repeating: 0, count: Int(info.channels))
            let bytes = Int32(map.count * MemoryLayout<Int32>.size)
            channelMap = sf_command(handle, Int32(SFC_GET_CHANNEL_MAP_INFO), &map, bytes) != 0 ? map : []
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        sf_close(handle)
        close(descriptor)
    }

    /// Reads up to `frames` interleaved frames, normalised to -1...1. Returns how many there were; fewer than asked
    /// for at the end.
    func read(into buffer: UnsafeMutablePointer<Float>, frames: Int) throws(AudioFileError) -> Int {
        let count = sf_readf_float(handle, buffer, sf_count_t(frames))
        if count < frames, sf_error(handle) == Int32(SF_ERR_SYSTEM) {
            throw .readFailed(path: path, reason: String(cString: sf_strerror(handle)))
        }
        return max(0, Int(count))
    }

    private static func size(of descriptor: Int32, path: String) throws(AudioFileError) -> UInt64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .opening(path, errno: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .isDirectory(path: path)
        default: throw .notRegularFile(path: path)
        }
        guard status.st_size > 0 else { throw .empty(path: path) }
        return UInt64(status.st_size)
    }

    private static func openHandle(
        _ descriptor: Int32, info: inout SF_INFO, probe: ContainerProbe?, path: String
    ) throws(AudioFileError) -> OpaquePointer {
        guard let handle = sf_open_fd(descriptor, Int32(SFM_READ), &info, Int32(SF_FALSE)) else {
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
