import Foundation
import LoopCore
import Testing
import WebIO

@Suite struct WebSocketTests {
    let web = Web()

    private func opened(
        _ port: UInt16, options: WebOptions = .init(), path: String = "/echo"
    ) async throws -> Socket {
        let socket = await web.connect("ws://127.0.0.1:\(port)\(path)", options: options)
        let event = await socket.next()
        guard case .opened = event else {
            throw WebError.other("\(String(describing: event))")
        }
        return socket
    }

    @Test func echoesTextAndBinary() async throws {
        let socket = try await opened(try await web.serveEcho())
        await web.send("héllo", on: socket)
        guard case .text("héllo") = await socket.next() else { throw WebError.other("text") }
        for size in [0, 1, 125, 126, 65535, 65536, 1_000_000] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            await web.send(bytes, on: socket)
            guard case .binary(let back) = await socket.next() else { throw WebError.other("\(size)") }
            #expect(back == bytes)
        }
    }

    @Test func messagesKeepTheirOrder() async throws {
        let socket = try await opened(try await web.serveEcho())
        for index in 0..<500 { await web.send("\(index)", on: socket) }
        for index in 0..<500 {
            guard case .text(let text) = await socket.next() else { throw WebError.other("\(index)") }
            #expect(text == "\(index)")
        }
    }

    @Test func headersAndQueryArrive() async throws {
        let port = try await web.serve { server, _ in
            server.acceptWebSockets(
                path: "/rtc",
                authorize: { request in
                    HTTPResponse(
                        status: request.bearerToken == "good" ? 409 : 401,
                        text: "\(request.query("join_request") ?? "")")
                }, accept: { _, _ in })
        }
        for (token, status) in [("good", 409), ("bad", 401)] {
            let socket = await web.connect(
                "ws://127.0.0.1:\(port)/rtc?join_request=a%3D", headers: ["Authorization": "Bearer \(token)"])
            guard case .handshake(let response)? = await socket.next()?.failure else { throw WebError.other(token) }
            #expect(response.status == status)
            #expect(response.text == "a=")
        }
    }

    @Test func refusalsCarryStatusAndBody() async throws {
        let port = try await web.serve { server, _ in
            server.acceptWebSockets(
                path: "/rtc", authorize: { _ in HTTPResponse(status: 401, text: "invalid token: sécret") },
                accept: { _, _ in })
        }
        let error = await web.connect("ws://127.0.0.1:\(port)/rtc?access_token=t0ken").next()?.failure
        guard case .handshake(let response)? = error else { throw WebError.other("\(String(describing: error))") }
        #expect(response.status == 401)
        #expect(response.text == "invalid token: sécret")
        #expect(error?.description.contains("t0ken") == false)
        let missing = await web.connect("ws://127.0.0.1:\(port)/none").next()?.failure
        guard case .handshake(let response)? = missing else { throw WebError.other("\(String(describing: missing))") }
        #expect(response.status == 404)
    }

    @Test(arguments: [
        ("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy", 503, "busy"),
        ("HTTP/1.1 500 X\r\n\r\nuntil the end", 500, "until the end"),
        ("HTTP/1.0 200 OK\nContent-Length: 2\n\nok", 200, "ok"),
        ("HTTP/1.1 400 X\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 400, "abcde"),
        ("HTTP/1.1 400 X\r\nContent-Length: 10\r\n\r\nshort", 400, "short"),
    ])
    func refusalsComeInManyForms(answer: String, status: Int, body: String) async throws {
        let server = try RawServer { connection in
            _ = connection.receiveHead()
            connection.send(answer)
        }
        let error = await web.connect("ws://127.0.0.1:\(server.port)/").next()?.failure
        guard case .handshake(let response)? = error else { throw WebError.other("\(String(describing: error))") }
        #expect(response.status == status)
        #expect(response.text == body)
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 101\r\n\r\n", "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", "HTTP/1.1 200 OK\r\nnocolon\r\n\r\n",
        "\r\n\r\n",
        "HTTP/1.1 99 X\r\n\r\n",
    ])
    func malformedAnswersAreRefused(answer: String) async throws {
        let server = try RawServer { connection in
            _ = connection.receiveHead()
            connection.send(answer)
            _ = connection.receiveAll()
        }
        let error = await web.connect("ws://127.0.0.1:\(server.port)/").next()?.failure
        guard case .malformed? = error else { throw WebError.other("\(String(describing: error))") }
    }

    @Test func endlessHeadersAreRefused() async throws {
        let server = try RawServer { connection in
            _ = connection.receiveHead()
            connection.send("HTTP/1.1 101 X\r\n")
            while connection.send("X-Filler: \(String(repeating: "x", count: 1000))\r\n") {}
        }
        let error = await web.connect("ws://127.0.0.1:\(server.port)/").next()?.failure
        #expect(error == .malformed("127.0.0.1: its HTTP headers do not end"))
    }

    @Test func connectFailuresAreToldApart() async throws {
        let port = try unusedPort()
        #expect(
            await web.connect("ws://127.0.0.1:\(port)/").next()?.failure
                == .connectionRefused(host: "127.0.0.1", port: port))
        #expect(await web.connect("ws://nowhere.invalid/").next()?.failure == .cannotResolve(host: "nowhere.invalid"))
        guard case .invalidURL? = await web.connect("mailto:x").next()?.failure else { throw WebError.other("url") }
        let closing = try RawServer { connection in _ = connection.receiveHead() }
        #expect(
            await web.connect("ws://127.0.0.1:\(closing.port)/").next()?.failure
                == .connectionClosed("before it answered (127.0.0.1)"))
    }

    @Test func aSilentServerTimesOut() async throws {
        let server = try RawServer { connection in _ = connection.receiveAll() }
        var options = WebOptions()
        options.connectTimeout = .milliseconds(200)
        let error = await web.connect("ws://127.0.0.1:\(server.port)/", options: options).next()?.failure
        #expect(
            error == .timedOut("connecting to 127.0.0.1 port \(server.port)", after: .milliseconds(200)))
    }

    @Test func closesInOrder() async throws {
        let socket = try await opened(try await web.serveEcho())
        await web.send("before", on: socket)
        await web.close(socket, 4001, "because")
        await web.close(socket, 1000, "again")
        var event = await socket.next()
        if case .text = event { event = await socket.next() }
        guard case .closed(4001, _) = event else { throw WebError.other("client") }
        guard case .closed(4001, "because")? = await web.serverEvent() else { throw WebError.other("server") }
    }

    @Test func theServerClosesInOrder() async throws {
        let socket = try await opened(try await web.serveEcho())
        await web.closeAccepted(1001, "restart")
        guard case .closed(1001, "restart") = await socket.next() else { throw WebError.other("client") }
        guard case .closed(1001, _)? = await web.serverEvent() else { throw WebError.other("server") }
    }

    @Test func closingBeforeOpeningCancels() async throws {
        let server = try RawServer { connection in _ = connection.receiveAll() }
        let socket = await web.connect("ws://127.0.0.1:\(server.port)/")
        await web.close(socket, 1000, "")
        #expect(await socket.next()?.failure == .cancelled)
    }

    @Test func anUnansweredCloseEnds() async throws {
        let server = try RawServer { connection in
            accept(connection)
            _ = connection.receiveAll()
        }
        var options = WebOptions()
        options.closeTimeout = .milliseconds(200)
        let socket = try await opened(server.port, options: options)
        await web.close(socket, 1000, "bye")
        guard case .closed(1000, "bye") = await socket.next() else { throw WebError.other("client") }
    }

    @Test func abortingSendsNoCloseFrame() async throws {
        let socket = try await opened(try await web.serveEcho())
        await web.abort(socket)
        guard case .failed(.connectionClosed)? = await web.serverEvent() else { throw WebError.other("server") }
    }

    @Test func aVanishedServerFails() async throws {
        let server = try RawServer { connection in accept(connection) }
        let socket = try await opened(server.port)
        #expect(await socket.next()?.failure == .connectionClosed("without a close frame (127.0.0.1)"))
    }

    @Test func aResetFails() async throws {
        let server = try RawServer { connection in
            accept(connection)
            connection.reset()
        }
        let socket = try await opened(server.port)
        guard case .connectionClosed? = await socket.next()?.failure else { throw WebError.other("client") }
    }

    @Test func oversizeIsRefusedByTheClient() async throws {
        var options = WebOptions()
        options.maxMessageSize = 1000
        let socket = try await opened(try await web.serveEcho(), options: options)
        await web.send([UInt8](repeating: 1, count: 1000), on: socket)
        guard case .binary = await socket.next() else { throw WebError.other("echo") }
        await web.send([UInt8](repeating: 1, count: 1001), on: socket)
        #expect(await socket.next()?.failure == .tooLarge(limit: 1000))
        guard case .closed(1009, _)? = await web.serverEvent() else { throw WebError.other("server") }
    }

    @Test func oversizeIsRefusedByTheServer() async throws {
        var options = HTTPServerOptions()
        options.maxMessageSize = 1000
        let socket = try await opened(try await web.serveEcho(options: options))
        await web.send([UInt8](repeating: 1, count: 1_000_000), on: socket)
        guard case .closed(1009, _) = await socket.next() else { throw WebError.other("client") }
        guard case .failed(.tooLarge(limit: 1000))? = await web.serverEvent() else { throw WebError.other("server") }
    }

    @Test func aPeerThatDoesNotReadIsDropped() async throws {
        let server = try RawServer { connection in
            accept(connection)
            Thread.sleep(forTimeInterval: 12)
        }
        var options = WebOptions()
        options.maxBufferedAmount = 100_000
        let socket = try await opened(server.port, options: options)
        for _ in 0..<200 { await web.send([UInt8](repeating: 0, count: 90_000), on: socket) }
        guard case .other(let reason)? = await socket.next()?.failure else { throw WebError.other("client") }
        #expect(reason.contains("does not read"))
    }

    @Test func aSilentPeerTimesOut() async throws {
        let server = try RawServer { connection in
            accept(connection)
            _ = connection.receiveAll()
        }
        var options = WebOptions()
        options.keepaliveInterval = .milliseconds(100)
        options.keepaliveTimeout = .milliseconds(200)
        let socket = try await opened(server.port, options: options)
        #expect(
            await socket.next()?.failure == .timedOut("a sign of life from 127.0.0.1", after: .milliseconds(300)))
    }

    @Test func pongsKeepALivePeer() async throws {
        var options = WebOptions()
        options.keepaliveInterval = .milliseconds(100)
        options.keepaliveTimeout = .milliseconds(700)
        let socket = try await opened(try await web.serveEcho(), options: options)
        try await Task.sleep(for: .milliseconds(1200))
        await web.send("alive", on: socket)
        guard case .text("alive") = await socket.next() else { throw WebError.other("client") }
    }

    /// A loop that stood still for longer than the time limit heard nothing meanwhile; the peer is not to blame.
    @Test func aLoopThatStoodStillDoesNotBlameThePeer() async throws {
        var options = WebOptions()
        options.keepaliveInterval = .milliseconds(100)
        options.keepaliveTimeout = .milliseconds(300)
        let socket = try await opened(try await web.serveEcho(), options: options)
        await web.stall(seconds: 1)
        try await Task.sleep(for: .milliseconds(250))
        await web.send("alive", on: socket)
        guard case .text("alive") = await socket.next() else { throw WebError.other("client") }
    }

    @Test func framesThatComeWithTheHandshakeArrive() async throws {
        let server = try RawServer { connection in
            accept(connection, with: [0x81, 0x01, 0x41, 0x82, 0x00, 0x88, 0x02, 0x03, 0xE8])
            _ = connection.receiveAll()
        }
        let socket = try await opened(server.port)
        guard case .text("A") = await socket.next() else { throw WebError.other("text") }
        guard case .binary([]) = await socket.next() else { throw WebError.other("binary") }
        guard case .closed(1000, "") = await socket.next() else { throw WebError.other("closed") }
    }
}
