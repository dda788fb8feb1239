import Foundation

/// A TCP server that speaks what a test tells it to, on 127.0.0.1. It listens until the process ends: a test that names
/// only its port holds it no longer than that, and its client may connect later.
final class RawServer: Sendable {
    let port: UInt16

    /// - Parameter body: handles one connection; it is closed afterwards.
    init(_ body: @escaping @Sendable (RawConnection) -> Void) throws {
        let (descriptor, port) = try Self.listening()
        self.port = port
        Thread.detachNewThread {
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { body(RawConnection(descriptor: connection)) }
            }
        }
    }

    /// A socket that listens, and its port.
    fileprivate static func listening() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: 0)
        try check(
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            })
        try check(listen(descriptor, 16))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try check(
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            })
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}

/// One TCP connection with blocking calls that give up after 5 s.
final class RawConnection: Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    convenience init(to port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.init(descriptor: descriptor)
        var address = loopback(port: port)
        try check(
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            })
    }

    deinit {
        Glibc.close(descriptor)
    }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// What comes next; empty at the end, `nil` after 5 s.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 { return errno == EAGAIN ? nil : [] }
        return Array(buffer.prefix(count))
    }

    /// Everything until the other side closes; `nil` when it does not within 5 s of silence.
    func receiveAll(limit: Int = 4 << 20) -> [UInt8]? {
        var all: [UInt8] = []
        while all.count < limit {
            guard let chunk = receive() else { return nil }
            if chunk.isEmpty { break }
            all += chunk
        }
        return all
    }

    /// Up to and including the end of an HTTP head.
    func receiveHead() -> String? {
        var all: [UInt8] = []
        while true {
            guard let chunk = receive(), !chunk.isEmpty else { return nil }
            all += chunk
            let text = String(decoding: all, as: UTF8.self)
            if text.contains("\r\n\r\n") { return text }
        }
    }

    /// Runs calls that block on a thread of their own: tests share few.
    func offPool<Value: Sendable>(_ body: @escaping @Sendable (RawConnection) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body(self)) }
        }
    }

    /// ``receiveAll(limit:)`` for tests.
    func remainder() async -> [UInt8]? {
        await offPool { $0.receiveAll() }
    }

    func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes so that the other side gets a reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}

struct SystemError: Error {
    var code: Int32
}

private func check(_ result: Int32) throws {
    if result < 0 { throw SystemError(code: errno) }
}

private func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

/// A port on which nothing listens.
func unusedPort() throws -> UInt16 {
    let (descriptor, port) = try RawServer.listening()
    Glibc.close(descriptor)
    return port
}
