import Testing
import WebIO

@Suite struct ServerRobustnessTests {
    let web = Web()

    /// Whether the server still serves.
    private func isAlive(_ port: UInt16) async throws -> Bool {
        let socket = await web.connect("ws://127.0.0.1:\(port)/echo")
        guard case .opened = await socket.next() else { return false }
        await web.send("alive", on: socket)
        guard case .text("alive") = await socket.next() else { return false }
        return await web.get("http://127.0.0.1:\(port)/none").response?.status == 404
    }

    @Test(arguments: [
        "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET /%00%ff/../.. HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "\0\u{1}\u{2}garbage\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "GET /echo?%zz=%&&&=%f HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 99\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
    ])
    func malformedRequestsDoNoHarm(request: String) async throws {
        let port = try await web.serveEcho()
        let connection = try RawConnection(to: port)
        connection.send(request)
        connection.endSending()
        #expect(await connection.remainder() != nil)
        #expect(try await isAlive(port))
    }

    @Test func endlessHeadersAreCutOff() async throws {
        let port = try await web.serveEcho()
        let connection = try RawConnection(to: port)
        connection.send("GET / HTTP/1.1\r\nHost: x\r\n")
        let sent = await connection.offPool { connection in
            var sent = 0
            while sent < 64 << 20, connection.send("X: \(String(repeating: "x", count: 8000))\r\n") { sent += 8000 }
            return sent
        }
        #expect(sent < 64 << 20)
        #expect(try await isAlive(port))
    }

    @Test(arguments: ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
    func largeBodiesAreRefused(header: String) async throws {
        let port = try await web.serve { server, _ in
            server.handle(path: "/") { request, responder in
                responder.respond(HTTPResponse(status: 200, text: "\(request.body.count)"))
            }
        }
        let connection = try RawConnection(to: port)
        connection.send("POST / HTTP/1.1\r\nHost: x\r\n\(header)\r\n\r\n")
        let chunk = [UInt8](repeating: 0x78, count: 0x1000)
        for _ in 0..<733 {
            if header.hasPrefix("T") { connection.send("1000\r\n") }
            connection.send(chunk)
            if header.hasPrefix("T") { connection.send("\r\n") }
        }
        if header.hasPrefix("T") { connection.send("0\r\n\r\n") }
        let answer = String(decoding: await connection.remainder() ?? [], as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 413"), "\(answer.prefix(100))")
    }

    @Test func silentConnectionsAreDropped() async throws {
        var options = HTTPServerOptions()
        options.idleTimeout = .seconds(1)
        let port = try await web.serveEcho(options: options)
        let connection = try RawConnection(to: port)
        connection.send("GET / HT")
        #expect(await connection.remainder() != nil)
        #expect(try await isAlive(port))
    }

    @Test func connectionsAreLimited() async throws {
        var options = HTTPServerOptions()
        options.maxConnections = 4
        let port = try await web.serveEcho(options: options)
        var open: [RawConnection] = []
        for _ in 0..<4 { open.append(try RawConnection(to: port)) }
        try await Task.sleep(for: .milliseconds(100))
        let extra = try RawConnection(to: port)
        extra.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await extra.remainder() == [])
        open = []
        try await Task.sleep(for: .milliseconds(200))
        #expect(try await isAlive(port))
    }

    @Test(
        arguments: [
            [0x81, 0x01, 0x41],  // not masked
            [0xC1, 0x80, 0, 0, 0, 0],  // a reserved bit
            [0x83, 0x80, 0, 0, 0, 0],  // an undefined opcode
            [0x80, 0x80, 0, 0, 0, 0],  // a continuation of nothing
            [0x01, 0x80, 0, 0, 0, 0, 0x81, 0x80, 0, 0, 0, 0],  // a message inside a message
            [0x09, 0x80, 0, 0, 0, 0],  // a fragmented ping
            [0x89, 0xFE, 0x01, 0x00, 0, 0, 0, 0],  // a long ping
            [0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0],  // 2^64 - 1 bytes
            [0x82, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0],  // 2^63 - 1 bytes
            [0x82, 0xFE, 0x00, 0x01, 0, 0, 0, 0, 0x41],  // a length not in its shortest form
            [0x81, 0x82, 0, 0, 0, 0, 0xC3, 0x28],  // not UTF-8
            [0x88, 0x81, 0, 0, 0, 0, 0x03],  // a close code of one byte
            [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED],  // the close code 1005
            [0x88, 0x84, 0, 0, 0, 0, 0x03, 0xE8, 0xC3, 0x28],  // a close reason that is not UTF-8
        ] as [[UInt8]])
    func malformedFramesCloseTheSocket(frame: [UInt8]) async throws {
        let port = try await web.serveEcho()
        let connection = try RawConnection(to: port)
        await upgrade(connection)
        connection.send(frame)
        let answer = await connection.remainder()
        #expect(answer?.first == 0x88)
        #expect(try await isAlive(port))
        guard case .failed(let error)? = await web.serverEvent() else {
            Issue.record("no failure")
            return
        }
        switch error {
        case .malformed, .tooLarge: break
        default: Issue.record("\(error)")
        }
    }

    @Test func fragmentsAreJoinedAndPingsAnsweredBetween() async throws {
        let port = try await web.serveEcho()
        let connection = try RawConnection(to: port)
        await upgrade(connection)
        for byte in [0x01, 0x81, 1, 2, 3, 4, 0x49, 0x89, 0x81, 0, 0, 0, 0, 0x70, 0x80, 0x81, 0, 0, 0, 0, 0x69]
            as [UInt8]
        {
            connection.send([byte])
        }
        var answer: [UInt8] = []
        while answer.count < 7, let chunk = await connection.offPool({ $0.receive() }), !chunk.isEmpty {
            answer += chunk
        }
        #expect(answer == [0x8A, 0x01, 0x70, 0x81, 0x02, 0x48, 0x69])
    }

    @Test func endlessFragmentsAreRefused() async throws {
        var options = HTTPServerOptions()
        options.maxMessageSize = 10_000
        let port = try await web.serveEcho(options: options)
        let connection = try RawConnection(to: port)
        await upgrade(connection)
        connection.send([0x02, 0x80, 0, 0, 0, 0])
        let fragment: [UInt8] = [0x00, 0xFD, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 125)
        for _ in 0..<81 { connection.send(fragment) }
        let answer = await connection.remainder()
        #expect(answer == [0x88, 0x02, 0x03, 0xF1])
    }

    @Test func randomBytesDoNoHarm() async throws {
        let port = try await web.serveEcho()
        var generator = SplitMix(state: 7)
        for round in 0..<100 {
            let connection = try RawConnection(to: port)
            if round % 2 == 0 { await upgrade(connection) }
            connection.send(
                (0..<Int.random(in: 1...300, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                })
            connection.endSending()
            #expect(await connection.remainder() != nil)
        }
        #expect(try await isAlive(port))
    }

    @Test func aTakenPortIsNamed() async throws {
        let port = try await web.serveEcho()
        await #expect {
            _ = try await web.serve(port: port) { _, _ in }
        } throws: { error in
            guard case .cannotListen("127.0.0.1", port, let reason)? = error as? WebError else { return false }
            return reason.contains("in use")
        }
        await #expect(throws: WebError.cannotListen(address: "x", port: 0, reason: "not an IP address")) {
            _ = try await web.serve(address: "x") { _, _ in }
        }
    }

    @Test func aClosedServerRefuses() async throws {
        let port = try await web.serveEcho()
        await web.closeServers()
        #expect(
            await web.get("http://127.0.0.1:\(port)/").error == .connectionRefused(host: "127.0.0.1", port: port))
    }

    private func upgrade(_ connection: RawConnection) async {
        connection.send(
            "GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        let head = await connection.offPool { $0.receiveHead() }
        #expect(head?.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") == true)
        let connection = head?.components(separatedBy: "\r\n").filter { $0.lowercased().hasPrefix("connection:") }
        #expect(connection == ["Connection: Upgrade"])
    }
}

/// A small generator with a fixed seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
