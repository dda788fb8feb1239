import Foundation
import LoopCore

/// A coturn process on a free port of 127.0.0.1, for the length of a test.
final class TURNServer {
    static let username = "alice"
    static let password = "secret"

    static let executable = ["/usr/bin/turnserver", "/usr/local/bin/turnserver"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    let port: UInt16
    let tlsPort: UInt16
    private let process = Process()
    private let folder: URL

    /// Nil when coturn is not installed, or does not come up.
    init?() async throws {
        guard let executable = Self.executable, let port = Self.freePort(), let tlsPort = Self.freePort() else {
            return nil
        }
        self.port = port
        self.tlsPort = tlsPort
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("turn-\(port)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let hasCertificate = await Self.makeCertificate(in: folder)
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments =
            [
                "-n", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", "--listening-port=\(port)",
                "--tls-listening-port=\(tlsPort)", "--lt-cred-mech", "--user=\(Self.username):\(Self.password)",
                "--realm=test", "--allow-loopback-peers", "--no-cli", "--no-dtls", "--fingerprint",
                "--log-file=stdout", "--pidfile=\(folder.path)/pid", "--userdb=\(folder.path)/db",
            ]
            + (hasCertificate ? ["--cert=\(folder.path)/cert.pem", "--pkey=\(folder.path)/key.pem"] : ["--no-tls"])
        process.currentDirectoryURL = folder
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let isUp = await eventually { Self.accepts(port) }
        guard isUp else { return nil }
    }

    deinit {
        // coturn takes its time over SIGTERM, and `waitUntilExit` wants a run loop.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    private static func makeCertificate(in folder: URL) async -> Bool {
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
            "\(folder.path)/key.pem", "-out", "\(folder.path)/cert.pem",
        ]
        openssl.standardError = FileHandle.nullDevice
        openssl.standardOutput = FileHandle.nullDevice
        guard (try? openssl.run()) != nil else { return false }
        return await eventually { !openssl.isRunning } && openssl.terminationStatus == 0
    }

    /// The path of the certificate that signs itself.
    var certificateFile: String { "\(folder.path)/cert.pem" }

    private static func withSocket<Value>(
        port: UInt16, _ body: (Int32, UnsafeMutablePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func freePort() -> UInt16? {
        withSocket(port: 0) { descriptor, address, length in
            var length = length
            guard bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else {
                return nil
            }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
        }
    }

    private static func accepts(_ port: UInt16) -> Bool {
        withSocket(port: port) { connect($0, $1, $2) == 0 }
    }
}
