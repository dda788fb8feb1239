import Foundation

/// A self-signed certificate for `localhost` and 127.0.0.1, made with the `openssl` program.
final class Certificate: Sendable {
    let certificateFile: String
    let keyFile: String
    private let folder: URL

    init(name: String = "localhost", days: Int = 2) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("agentctl-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificateFile = folder.appendingPathComponent("certificate.pem").path
        keyFile = folder.appendingPathComponent("key.pem").path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        var names = "DNS:\(name)"
        if name == "localhost" { names += ",IP:127.0.0.1" }
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            keyFile, "-out", certificateFile, "-days", "\(days)", "-subj", "/CN=\(name)", "-addext",
            "subjectAltName=\(names)",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw SystemError(code: process.terminationStatus) }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }
}
