import COpenSSL

/// What a ``DatagramBIO`` reads from and writes to.
protocol DatagramEndpoint: AnyObject {
    /// Copies the waiting datagram; what does not fit is lost, as with a UDP socket.
    /// - Returns: its size, or nil when none is waiting.
    func readDatagram(into buffer: UnsafeMutableRawBufferPointer) -> Int?
    func writeDatagram(_ datagram: UnsafeRawBufferPointer)
}

/// An OpenSSL BIO where every write is one datagram and every read takes one.
///
/// A memory BIO would run the records of a flight together; OpenSSL fills a datagram up to the MTU by itself and
/// writes it at once, so the boundaries are right here.
enum DatagramBIO {
    /// - Returns: a BIO of `endpoint`, which is not retained and has to outlive it; nil without memory.
    static func make(_ endpoint: some DatagramEndpoint) -> OpaquePointer? {
        guard let method, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged<Box>.passRetained(Box(endpoint)).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    /// Classes can be passed through C pointers, existentials cannot.
    private final class Box {
        unowned let endpoint: any DatagramEndpoint
        init(_ endpoint: any DatagramEndpoint) { self.endpoint = endpoint }
    }

    private static func endpoint(of bio: OpaquePointer?) -> (any DatagramEndpoint)? {
        BIO_get_data(bio).map { Unmanaged<Box>.fromOpaque($0).takeUnretainedValue().endpoint }
    }

    /// Immutable once made and never freed; OpenSSL only reads it.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        // The index is process-wide; 0x0400 marks a source/sink.
        guard let method = BIO_meth_new(BIO_get_new_index() | 0x0400, "datagram") else { return nil }
        BIO_meth_set_write(method) { bio, bytes, count in
            guard let bytes, count > 0, let endpoint = endpoint(of: bio) else { return -1 }
            endpoint.writeDatagram(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        BIO_meth_set_read(method) { bio, buffer, count in
            BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY)
            guard let buffer, count > 0,
                let size = endpoint(of: bio)?.readDatagram(into: .init(start: buffer, count: Int(count)))
            else {
                BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                return -1
            }
            return Int32(size)
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // Everything but flushing is answered with "nothing": no bytes pending, no overhead, no peer address.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        BIO_meth_set_destroy(method) { bio in
            guard let data = BIO_get_data(bio) else { return 0 }
            BIO_set_data(bio, nil)
            Unmanaged<Box>.fromOpaque(data).release()
            return 1
        }
        return method
    }()
}
