import LiveKitProtocol
import LoopCore
import Testing
import WebIO

@testable import AgentSandbox

/// A bare signal connection, without the room logic above it.
private actor SignalConnection {
    nonisolated let loop = EventLoop(name: "signal-test")
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private(set) var binary: [[UInt8]] = []
    private(set) var texts: [String] = []
    private(set) var closeCode: Int?
    private var socket: WebSocket?

    func open(_ url: String, token: String) {
        let headers = HTTPHeaders([("Authorization", "Bearer " + token)])
        socket = WebSocket.connect(loop: loop, url: url, headers: headers) { [self] event in
            switch event {
            case .binary(let bytes): binary.append(bytes)
            case .text(let text): texts.append(text)
            case .closed(let code, _): closeCode = code
            case .opened, .failed: break
            }
        }
    }

    func send(_ text: String) { socket?.send(text: text) }
    func send(_ bytes: [UInt8]) { socket?.send(binary: bytes) }
    func abort() { socket?.abort() }
}

/// A client may speak JSON in text frames; the server answers in the kind that it heard last.
@Suite struct TextFrameTests {
    @Test func textIsAnsweredInTextAndBinaryInBinary() async throws {
        try await withSandbox { server, endpoints in
            let connection = try await open(server, endpoints)
            #expect(await eventually { await connection.binary.count > 0 })
            await connection.send(#"{"pingReq": {"timestamp": "5", "rtt": 1}}"#)
            #expect(await eventually { await connection.texts.contains { $0.contains("pongResp") } })
            let text = try #require(await connection.texts.first { $0.contains("pongResp") })
            guard case .pongResp(let pong)? = try SignalResponse(protoJSON: text).message else {
                Issue.record("not a pong: \(text)")
                return
            }
            #expect(pong.lastPingTimestamp == 5)

            var request = SignalRequest()
            request.message = .ping(7)
            await connection.send(request.serializedBytes())
            var response = SignalResponse()
            response.message = .pong(7)
            let pongBytes = response.serializedBytes()
            #expect(await eventually { await connection.binary.contains(pongBytes) })
            #expect(await !connection.texts.contains { $0.contains("\"pong\"") })
            await connection.abort()
        }
    }

    @Test func textThatIsNoMessageIsNotServedForever() async throws {
        try await withSandbox { server, endpoints in
            let connection = try await open(server, endpoints)
            #expect(await eventually { await connection.binary.count > 0 })
            for _ in 0..<10 { await connection.send("hello") }
            #expect(await eventually { await connection.closeCode == 1003 })
        }
    }

    private func open(
        _ server: SandboxServer, _ endpoints: SandboxServer.Endpoints
    ) async throws -> SignalConnection {
        let connection = SignalConnection()
        let token = try await server.makeToken(identity: "user", room: "room")
        await connection.open(endpoints.signal + "/rtc?protocol=16&auto_subscribe=1", token: token)
        return connection
    }
}
