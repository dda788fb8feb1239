import Testing
import WebIO

@Suite struct TLSTests {
    let web = Web()

    private func serve(_ certificate: Certificate) async throws -> UInt16 {
        var options = HTTPServerOptions()
        options.tls = .init(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
        return try await web.serveEcho(options: options)
    }

    private func trusting(_ certificate: Certificate) -> WebOptions {
        var options = WebOptions()
        options.caFile = certificate.certificateFile
        return options
    }

    private var insecure: WebOptions {
        var options = WebOptions()
        options.tlsVerification = false
        return options
    }

    @Test func selfSignedCertificatesAreRefused() async throws {
        let port = try await serve(try Certificate())
        let error = await web.get("https://localhost:\(port)/").error
        guard case .tls("localhost", let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("no authority that is trusted here"))
        let socket = await web.connect("wss://localhost:\(port)/echo")
        #expect(await socket.next()?.failure == error)
    }

    @Test func aCAFileIsTrusted() async throws {
        let certificate = try Certificate()
        let port = try await serve(certificate)
        #expect(await web.get("https://localhost:\(port)/", options: trusting(certificate)).response?.status == 404)
        let socket = await web.connect("wss://127.0.0.1:\(port)/echo", options: trusting(certificate))
        guard case .opened = await socket.next() else {
            Issue.record("not opened")
            return
        }
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        await web.send(bytes, on: socket)
        guard case .binary(let back) = await socket.next() else {
            Issue.record("no echo")
            return
        }
        #expect(back == bytes)
        await web.close(socket, 1000, "bye")
        guard case .closed(1000, _) = await socket.next() else {
            Issue.record("not closed")
            return
        }
    }

    @Test func connectionsAreUsedAgain() async throws {
        let certificate = try Certificate()
        let port = try await serve(certificate)
        for result in await web.getTwice("https://localhost:\(port)/", options: trusting(certificate)) {
            #expect(result.response?.status == 404)
        }
    }

    @Test func anotherNameIsRefused() async throws {
        let certificate = try Certificate(name: "elsewhere.example")
        let port = try await serve(certificate)
        let error = await web.get("https://localhost:\(port)/", options: trusting(certificate)).error
        #expect(error == .tls(host: "localhost", reason: "its certificate is for another host name"))
    }

    @Test func expiredCertificatesAreRefused() async throws {
        let certificate = try Certificate(expired: true)
        let port = try await serve(certificate)
        let socket = await web.connect("wss://localhost:\(port)/echo", options: trusting(certificate))
        guard case .tls("localhost", let reason)? = await socket.next()?.failure else {
            Issue.record("not refused")
            return
        }
        #expect(reason.contains("has expired"))
    }

    @Test func verificationCanBeTurnedOff() async throws {
        let port = try await serve(try Certificate(name: "elsewhere.example"))
        #expect(await web.get("https://localhost:\(port)/", options: insecure).response?.status == 404)
        let socket = await web.connect("wss://localhost:\(port)/echo", options: insecure)
        guard case .opened = await socket.next() else {
            Issue.record("not opened")
            return
        }
    }

    @Test func aPlainPortIsNotTLS() async throws {
        // What a web server answers to the first record of TLS.
        let server = try RawServer { connection in
            _ = connection.receive()
            connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        }
        for error in [
            await web.get("https://127.0.0.1:\(server.port)/").error,
            await web.connect("wss://127.0.0.1:\(server.port)/echo").next()?.failure,
        ] {
            guard case .tls("127.0.0.1", let reason) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("does not speak TLS"), "\(reason)")
        }
    }

    @Test func aTLSPortIsNotPlain() async throws {
        // The alert that OpenSSL answers with.
        let server = try RawServer { connection in
            _ = connection.receive()
            connection.send([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28])
        }
        #expect(
            await web.connect("ws://127.0.0.1:\(server.port)/").next()?.failure
                == .malformed("127.0.0.1: it speaks TLS: use wss:// or https://"))
    }

    @Test func aMissingCAFileIsNamed() async throws {
        var options = WebOptions()
        options.caFile = "no/such/file.pem"
        let error = await web.get("https://127.0.0.1:1/", options: options).error
        #expect(error?.description.contains("the CA file \"no/such/file.pem\" cannot be used") == true)
        let socket = await web.connect("wss://127.0.0.1:1/", options: options)
        #expect(await socket.next()?.failure == error)
    }
}
