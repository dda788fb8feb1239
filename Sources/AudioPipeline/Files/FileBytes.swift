import CSndfile
import Glibc

/// The bytes of a regular file, as libsndfile reads them: remembers why a read failed, and can show other bytes
/// than the file has in a few places (sizes in a header that were never filled in).
final class FileBytes {
    let size: UInt64
    /// `errno` of the first read that failed; 0 for none.
    private(set) var failure: Int32 = 0
    private let descriptor: Int32
    private var position: UInt64 = 0
    private var replacements: [(offset: UInt64, bytes: [UInt8])] = []

    /// Opens `path`.
    ///
    /// - Throws: `AudioFileError`: `notFound`, `unreadable`, `isDirectory`, `notRegularFile`, `empty`, `readFailed`.
    init(path: String) throws(AudioFileError) {
        // Non-blocking, so that a pipe without a writer does not hang; it makes no difference to regular files.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .opening(path, errno: errno) }
        do throws(AudioFileError) {
            size = try Self.size(of: descriptor, path: path)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// From now on shows `bytes` at `offset`.
    func replace(at offset: UInt64, with bytes: [UInt8]) {
        replacements.append((offset, bytes))
    }

    /// At most `count` bytes at `offset`; fewer at the end of the file or where reading fails.
    func read(at offset: UInt64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            filled = read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    private func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let base = buffer.baseAddress, let start = off_t(exactly: offset) else { return 0 }
        var filled = 0
        while filled < buffer.count {
            let result = pread(descriptor, base + filled, buffer.count - filled, start + filled)
            if result < 0 && errno == EINTR { continue }
            if result < 0 && failure == 0 { failure = errno }
            guard result > 0 else { break }
            filled += result
        }
        for (place, bytes) in replacements {
            for (index, byte) in bytes.enumerated() {
                let target = place + UInt64(index)
                if target >= offset, target - offset < UInt64(filled) { buffer[Int(target - offset)] = byte }
            }
        }
        return filled
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

    // MARK: Callbacks of libsndfile; the context is the object itself.

    static var callbacks: SF_VIRTUAL_IO {
        SF_VIRTUAL_IO(
            get_filelen: { context in FileBytes.from(context).map { sf_count_t($0.size) } ?? 0 },
            seek: { offset, whence, context in FileBytes.from(context)?.seek(offset, whence) ?? -1 },
            read: { buffer, count, context in
                guard let buffer, count > 0, let bytes = FileBytes.from(context) else { return 0 }
                let target = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
                let filled = bytes.read(at: bytes.position, into: target)
                bytes.position += UInt64(filled)
                return sf_count_t(filled)
            },
            write: { _, _, _ in 0 },
            tell: { context in FileBytes.from(context).map { sf_count_t($0.position) } ?? 0 })
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> FileBytes? {
        context.map { Unmanaged<FileBytes>.fromOpaque($0).takeUnretainedValue() }
    }

    private func seek(_ offset: sf_count_t, _ whence: Int32) -> sf_count_t {
        let base: sf_count_t =
            switch whence {
            case SEEK_CUR: sf_count_t(position)
            case SEEK_END: sf_count_t(size)
            default: 0
            }
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return -1 }
        position = UInt64(target)
        return target
    }
}
