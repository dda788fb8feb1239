import AgentCore
import LoopCore
import Testing
import WebIO

/// A service with regions, on real sockets.
@Suite struct RegionTests {
    /// The front of a service: overloaded itself, but it knows other servers.
    private actor Front {
        nonisolated let loop = EventLoop(name: "front")
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        private var server: HTTPServer?
        private(set) var asked: [String] = []

        func start(regions: [String]) throws -> UInt16 {
            let server = try HTTPServer(loop: loop)
            server.handle(path: "/rtc") { _, responder in
                responder.respond(HTTPResponse(status: 503, text: "no node has room"))
            }
            server.handle(path: "/settings/regions") { [self] request, responder in
                asked.append(request.headers["Authorization"] ?? "")
                let list = regions.map { "{\"region\":\"r\",\"url\":\"\($0)\",\"distance\":\"7\"}" }
                responder.respond(
                    HTTPResponse(status: 200, text: "{\"regions\":[" + list.joined(separator: ",") + "]}"))
            }
            self.server = server
            return server.port
        }
    }

    @Test func theNextRegionTakesTheSession() async throws {
        try await withSandbox { server, endpoints in
            let dead = try await Front().start(regions: [])
            let front = Front()
            let port = try await front.start(regions: ["http://127.0.0.1:\(dead)", endpoints.signal])
            let alice = RoomClient(loop: EventLoop(name: "alice"))
            let token = try await server.makeToken(identity: "alice", room: "r")
            await alice.join("ws://127.0.0.1:\(port)", token: token, regions: .always)
            #expect(await alice.wait { $0.isConnected })
            #expect(await alice.events.contains(.regionChanged(server: endpoints.signal)))
            #expect(await front.asked == ["Bearer \(token)"])
            await alice.leave()
        }
    }
}
