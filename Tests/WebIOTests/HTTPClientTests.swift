import Foundation
import LoopCore
import Testing
import WebIO

@Suite struct HTTPClientTests {
    let web = Web()

    private func error(speaking bytes: String) async throws -> WebError? {
        let server = try RawServer { connection in
            _ = connection.receiveHead()
            connection.send(bytes)
        }
        return await web.get("http://127.0.0.1:\(server.port)/", timeout: .seconds(3)).error
    }

    @Test func exchangesARequest() async throws {
        let port = try await web.serve { server, _ in
            server.handle(path: "/api") { request, responder in
                let text = [
                    request.method, request.path, request.query("a") ?? "", request.query("b") ?? "",
                    request.bearerToken ?? "", request.headers["content-type"] ?? "",
                    String(decoding: request.body, as: UTF8.self), request.remoteAddress,
                ].joined(separator: "|")
                responder.respond(
                    HTTPResponse(status: 201, headers: ["X-One": "1"], body: Array(text.utf8)))
            }
        }
        let result = await web.fetch(
            HTTPRequest(
                method: "POST", url: "http://127.0.0.1:\(port)/api/x%20y?a=1%2B1&b=c+d",
                headers: ["Authorization": "Bearer abc", "Content-Type": "application/json"], body: Array("{}".utf8)))
        #expect(result.response?.status == 201)
        #expect(result.response?.headers["x-one"] == "1")
        #expect(result.response?.text == "POST|/api/x y|1+1|c d|abc|application/json|{}|127.0.0.1")
    }

    @Test func routesByTheLongestPrefix() async throws {
        let port = try await web.serve { server, _ in
            server.handle(path: "/a") { _, responder in responder.respond(HTTPResponse(status: 200, text: "a")) }
            server.handle(path: "/a/b") { _, responder in responder.respond(HTTPResponse(status: 200, text: "ab")) }
        }
        #expect(await web.get("http://127.0.0.1:\(port)/a/b/c").response?.text == "ab")
        #expect(await web.get("http://127.0.0.1:\(port)/a/bc").response?.text == "a")
        #expect(await web.get("http://127.0.0.1:\(port)/ab").response?.status == 404)
    }

    @Test func answersLater() async throws {
        let port = try await web.serveLater()
        async let result = web.get("http://127.0.0.1:\(port)/")
        while await web.heldCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
        await web.respondHeld(HTTPResponse(status: 200, text: "late"))
        #expect(await result.response?.text == "late")
        await web.releaseHeld()
    }

    @Test func aForgottenAnswerIsAnError() async throws {
        let port = try await web.serve { server, _ in server.handle(path: "/") { _, _ in } }
        #expect(await web.get("http://127.0.0.1:\(port)/").response?.status == 500)
    }

    @Test func anAbortedAnswerIsAClosedConnection() async throws {
        let port = try await web.serve { server, _ in server.handle(path: "/") { _, responder in responder.abort() } }
        let error = await web.fetch(HTTPRequest(method: "POST", url: "http://127.0.0.1:\(port)/")).error
        guard case .connectionClosed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func unknownHostsAreNamed() async {
        let error = await web.get("http://nowhere.invalid/?access_token=secret").error
        #expect(error == .cannotResolve(host: "nowhere.invalid"))
        #expect(error?.description.contains("no address found for host nowhere.invalid") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test func refusedConnectionsAreNamed() async throws {
        let port = try unusedPort()
        let error = await web.get("http://127.0.0.1:\(port)/").error
        #expect(error == .connectionRefused(host: "127.0.0.1", port: port))
        #expect(error?.description.contains("refused the connection on port \(port)") == true)
    }

    @Test(arguments: [
        ("", "the URL is empty"), ("ftp://h/", "does not start with"), ("http://", "names no host"),
        ("http://u:p@h/", "user name or password"), ("http://h/a b", "a space"), ("not a url", "a space"),
        ("http://h:99999/", "not a URL"), ("http://h:0/", "port"), ("host:80", "does not start with"),
    ])
    func uselessURLsAreExplained(url: String, words: String) async {
        let error = await web.get(url).error
        guard case .invalidURL(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains(words), "\(reason)")
        #expect(!reason.contains("u:p"))
    }

    @Test func headersCannotBeInjected() async {
        let error = await web.fetch(HTTPRequest(url: "http://127.0.0.1:1/", headers: ["A": "b\r\nC: d"])).error
        #expect(error == .other("the value of the header A holds a line break or another control character"))
    }

    @Test func slowServersTimeOut() async throws {
        let server = try RawServer { connection in _ = connection.receiveAll() }
        let start = MonotonicTime.now
        let error = await web.get("http://127.0.0.1:\(server.port)/", timeout: .milliseconds(200)).error
        #expect(error == .timedOut("the answer of 127.0.0.1", after: .milliseconds(200)))
        #expect(MonotonicTime.now - start < .seconds(8))
    }

    @Test func endlessAnswersTimeOut() async throws {
        let server = try RawServer { connection in
            _ = connection.receiveHead()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in 0..<100 {
                guard connection.send("x") else { return }
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
        let error = await web.get("http://127.0.0.1:\(server.port)/", timeout: .milliseconds(300)).error
        #expect(error == .timedOut("the answer of 127.0.0.1", after: .milliseconds(300)))
    }

    @Test func cancelling() async throws {
        let server = try RawServer { connection in _ = connection.receiveAll() }
        #expect(await web.fetchAndCancel("http://127.0.0.1:\(server.port)/").error == .cancelled)
    }

    @Test(arguments: ["Content-Length: 2000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7d0\r\n", "\r\n"])
    func largeAnswersAreRefused(head: String) async throws {
        let server = try RawServer { connection in
            _ = connection.receiveHead()
            connection.send("HTTP/1.1 200 OK\r\n" + head + String(repeating: "x", count: 2000))
        }
        var options = WebOptions()
        options.maxBodySize = 1000
        let error = await web.get("http://127.0.0.1:\(server.port)/", options: options).error
        #expect(error == .tooLarge(limit: 1000))
    }

    @Test func truncatedAnswersAreRefused() async throws {
        let error = try await error(speaking: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
        #expect(error == .connectionClosed("in the middle of its answer (127.0.0.1)"))
    }

    @Test func silentServersAreNamed() async throws {
        let error = try await error(speaking: "")
        #expect(error == .connectionClosed("before it answered (127.0.0.1)"))
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "\0\0\0\0\0\0\0\0\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
        "\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 99999999999999999999 X\r\n\r\n",
    ])
    func garbageNeitherCrashesNorHangs(answer: String) async throws {
        let server = try RawServer { connection in
            _ = connection.receiveHead()
            connection.send(answer)
        }
        let start = MonotonicTime.now
        _ = await web.get("http://127.0.0.1:\(server.port)/", timeout: .seconds(2))
        #expect(MonotonicTime.now - start < .seconds(15))
    }

    @Test func redirectsAreNotFollowed() async throws {
        let port = try await web.serve(HTTPResponse(status: 302, headers: ["Location": "http://127.0.0.1:1/"]))
        #expect(await web.get("http://127.0.0.1:\(port)/").response?.status == 302)
    }
}
