import Foundation

/// A self-signed certificate for `localhost` and 127.0.0.1, made with the `openssl` program.
final class Certificate: Sendable {
    let certificateFile: String
    let keyFile: String
    private let folder: URL

    /// - Parameter expired: valid only in the past.
    init(name: String = "localhost", expired: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("agentctl-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificateFile = folder.appendingPathComponent("certificate.pem").path
        keyFile = folder.appendingPathComponent("key.pem").path
        let names = "subjectAltName=DNS:\(name)" + (name == "localhost" ? ",IP:127.0.0.1" : "")
        let request = folder.appendingPathComponent("request.pem").path
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyFile]
        guard expired else {
            try run(
                ["req", "-x509"] + key + [
                    "-out", certificateFile, "-days", "2", "-subj", "/CN=\(name)", "-addext", names,
                ])
            return
        }
        // Only `openssl ca` takes dates.
        let configuration = folder.appendingPathComponent("ca.conf").path
        try """
        [ca]
        default_ca = here
        [here]
        dir = \(folder.path)
        new_certs_dir = \(folder.path)
        database = \(folder.path)/index.txt
        rand_serial = yes
        default_md = sha256
        policy = any
        x509_extensions = extensions
        [any]
        commonName = supplied
        [extensions]
        \(names)
        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        try "".write(toFile: folder.appendingPathComponent("index.txt").path, atomically: true, encoding: .utf8)
        try run(["req", "-new"] + key + ["-out", request, "-subj", "/CN=\(name)"])
        try run([
            "ca", "-batch", "-selfsign", "-config", configuration, "-keyfile", keyFile, "-in", request, "-out",
            certificateFile, "-startdate", "20200101000000Z", "-enddate", "20200201000000Z", "-notext",
        ])
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw SystemError(code: process.terminationStatus) }
    }
}
