import AgentCore
import Foundation
import Testing
import WebIO

@testable import AgentSandbox

/// The HTTP side: token endpoints and validation.
@Suite struct EndpointTests {
    private let http = HTTP()
    /// A join request without an offer.
    private let joinRequest = "join_request=EhEKCwgIEgUxLjAuMBgQEgIIAQ%3D%3D"

    @Test func versionOneAnswersInCamelCase() async throws {
        try await withSandbox { _, endpoints async throws in
            let response = try await http.send(
                "POST", endpoints.http + "/api/sandbox/connection-details?roomName=my%20room&participantName=Al",
                headers: [("X-Sandbox-ID", "any")])
            #expect(response.status == 200)
            #expect(response.object["serverUrl"] == endpoints.signal)
            #expect(response.object["roomName"] == "my room")
            #expect(response.object["participantName"] == "Al")
            let token = try #require(JSONWebToken(decoding: response.object["participantToken"] ?? ""))
            #expect(token.identity == "Al")
            #expect(token.video?.room == "my room")
            #expect(token.video?.roomJoin == true)
            #expect(JSONWebToken.isSigned(response.object["participantToken"] ?? "", with: "secret"))
        }
    }

    @Test(arguments: ["/api/v2/sandbox/connection-details", "/token"])
    func theStandardContract(path: String) async throws {
        try await withSandbox { _, endpoints async throws in
            let body = """
                {"room_name": "r", "participant_name": "Alice", "participant_identity": "alice",
                 "participant_metadata": "m", "participant_attributes": {"a": "b"},
                 "room_config": {"agents": [{"agent_name": "helper", "metadata": "x"}]}, "unknown": 1}
                """
            let response = try await http.send("POST", endpoints.http + path, body: body)
            #expect(response.status == 200)
            #expect(response.object["server_url"] == endpoints.signal)
            #expect(response.object["room_name"] == "r")
            let token = try #require(JSONWebToken(decoding: response.object["participant_token"] ?? ""))
            #expect(token.identity == "alice")
            #expect(token.name == "Alice")
            #expect(token.metadata == "m")
            #expect(token.attributes == ["a": "b"])
            #expect(token.agents == ["helper"])
        }
    }

    @Test func everyRequestGetsARoomAndAName() async throws {
        try await withSandbox { _, endpoints async throws in
            let first = try await http.send("POST", endpoints.http + "/token")
            let second = try await http.send("GET", endpoints.http + "/token")
            #expect(first.object["room_name"]?.isEmpty == false)
            #expect(first.object["room_name"] != second.object["room_name"])
        }
    }

    @Test func aServerOnAllAddressesIsNamedAsTheClientKnowsIt() async throws {
        try await withSandbox({ $0.address = "0.0.0.0" }) { _, endpoints async throws in
            let url = "http://localhost:\(endpoints.port)"
            let response = try await http.send("POST", url + "/token")
            #expect(response.object["server_url"] == "ws://localhost:\(endpoints.port)")
        }
    }

    @Test func badTokenRequestsAreExplained() async throws {
        try await withSandbox({ $0.sandboxID = "mine" }) { _, endpoints async throws in
            let url = endpoints.http + "/api/sandbox/connection-details"
            #expect(try await http.send("POST", url).status == 400)
            #expect(try await http.send("POST", url, headers: [("X-Sandbox-ID", "other")]).status == 404)
            #expect(try await http.send("GET", url, headers: [("X-Sandbox-ID", "mine")]).status == 405)
            #expect(try await http.send("POST", endpoints.http + "/token", body: "[1]").status == 400)
            #expect(try await http.send("POST", endpoints.http + "/token", body: "{").status == 400)
            let long = String(repeating: "x", count: 300)
            #expect(
                try await http.send("POST", endpoints.http + "/token", body: #"{"room_name": "\#(long)"}"#).status
                    == 400)
        }
    }

    @Test func validationAnswersAsLiveKitDoes() async throws {
        try await withSandbox { server, endpoints async throws in
            let (v0, v1) = (endpoints.http + "/rtc/validate", endpoints.http + "/rtc/v1/validate")
            let token = try await server.makeToken(identity: "a", room: "r")
            let bad = String(token.dropLast(3)) + "AAA"
            #expect(try await http.get(v0 + "?access_token=\(bad)") == "401 invalid authorization token")
            #expect(try await http.get(v1 + "?access_token=\(bad)") == "401 invalid authorization token")
            #expect(try await http.get(v0) == "401 no permissions to access the room")
            #expect(try await http.get(v1) == "400 join_request is required")
            #expect(try await http.get(v1, bearer: token) == "400 join_request is required")
            #expect(try await http.get(v0 + "?access_token=\(token)") == "200 success")
            #expect(try await http.get(v0, bearer: token) == "200 success")
            #expect(try await http.get(v1 + "?" + joinRequest, bearer: token) == "200 success")
            #expect(try await http.get(v1 + "?" + joinRequest) == "401 no permissions to access the room")
            #expect(try await http.get(endpoints.http + "/") == "200 OK")
            #expect(try await http.get(endpoints.http + "/rtc", bearer: token).hasPrefix("404"))
            #expect(try await http.get(endpoints.http + "/nothing").hasPrefix("404"))
        }
    }

    @Test func rejectedTokensKeepClientsOut() async throws {
        try await withSandbox { server, endpoints async throws in
            let good = try await server.makeToken(identity: "a", room: "r")
            let user = TestUser()
            try await user.join(endpoints.signal, token: String(good.dropLast(4)) + "AAAA")
            #expect(await eventually { await user.cause != nil })
            guard case .unauthorized(_, 401, let reason)? = await user.cause else {
                Issue.record("ended with \(String(describing: await user.cause))")
                return
            }
            #expect(reason == "invalid authorization token")
            #expect(await server.roomNames.isEmpty)
        }
    }

    @Test func twoServersDoNotDisturbEachOther() async throws {
        try await withSandbox { _, first async throws in
            try await withSandbox { _, second async throws in
                #expect(first.port != second.port)
                #expect(try await http.get(first.http + "/") == "200 OK")
                #expect(try await http.get(second.http + "/") == "200 OK")
            }
        }
    }

    @Test func aTakenPortIsAnError() async throws {
        try await withSandbox { _, endpoints async throws in
            var configuration = SandboxConfiguration()
            configuration.port = endpoints.port
            let other = SandboxServer(loop: .init(name: "other"), configuration: configuration)
            await #expect(throws: SandboxError.self) { try await other.start() }
        }
    }

    // MARK: Faults

    @Test(arguments: [401, 403, 404, 429, 500])
    func tokensAreRefusedWhenToldTo(status: Int) async throws {
        try await withSandbox({ $0.faults.token = .status(status) }) { _, endpoints async throws in
            let response = try await http.send("POST", endpoints.http + "/token")
            #expect(response.status == status)
            #expect(response.headers["Retry-After"] == (status == 429 ? "1" : nil))
        }
    }

    @Test func tokenFaultsCanBeSwitched() async throws {
        try await withSandbox { server, endpoints async throws in
            var faults = SandboxFaults()
            faults.token = .html
            await server.setFaults(faults)
            let page = try await http.send("POST", endpoints.http + "/token")
            #expect(page.status == 200)
            #expect(page.headers["Content-Type"]?.hasPrefix("text/html") == true)
            faults.token = .missingFields
            await server.setFaults(faults)
            #expect(try await http.send("POST", endpoints.http + "/token").object["participant_token"] == nil)
            faults.token = nil
            faults.tokenDelay = .milliseconds(300)
            await server.setFaults(faults)
            let clock = ContinuousClock()
            let start = clock.now
            #expect(try await http.send("POST", endpoints.http + "/token").status == 200)
            #expect(clock.now - start >= .milliseconds(290))
        }
    }
}
