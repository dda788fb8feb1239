import Foundation
import LiveKitProtocol
import Testing
import WebIO

@testable import AgentSandbox

@Suite struct JoinRequestTests {
    private func request(_ query: String, path: String = "/rtc/v1") -> HTTPServerRequest {
        HTTPServerRequest(method: "GET", path: path, rawQuery: query)
    }

    @Test func theMinimalVectorOfTheProtocol() throws {
        let join = try JoinParameters(request("join_request=EhEKCwgIEgUxLjAuMBgQEgIIAQ=="))
        #expect(join.usesSinglePeerConnection)
        #expect(join.autoSubscribe)
        #expect(join.client.version == "1.0.0")
        #expect(join.client.protocol == 16)
        #expect(join.client.sdk == .rust)
    }

    /// What the official SDKs sent to a real server: gzip, URL-safe alphabet.
    @Test func capturedJoinRequests() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appendingPathComponent("Fixtures/captures/python_sdk_events.jsonl")
        var found = 0
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            guard line.contains("\"ws_open\""),
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let query = object["query"] as? [String: Any], let value = query["join_request"] as? String
            else { continue }
            let encoded = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let join = try JoinParameters(request("join_request=\(encoded)"))
            found += 1
            #expect(join.client.sdk == .python)
            #expect(join.autoSubscribe)
            if join.reconnect {
                #expect(join.participantSid.hasPrefix("PA_"))
            } else {
                #expect(join.publisherOffer?.type == "offer")
            }
        }
        #expect(found == 4)
    }

    @Test func unsetAutoSubscribeMeansNoInV1AndYesInV0() throws {
        var join = JoinRequest()
        join.clientInfo = ClientInfo()
        var wrapped = WrappedJoinRequest()
        wrapped.joinRequest = join.serializedBytes()
        let text =
            Data(wrapped.serializedBytes()).base64EncodedString()
            .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(try !JoinParameters(request("join_request=\(text)")).autoSubscribe)
        #expect(try JoinParameters(request("protocol=16", path: "/rtc")).autoSubscribe)
        #expect(try !JoinParameters(request("auto_subscribe=0", path: "/rtc")).autoSubscribe)
    }

    @Test(arguments: ["", "join_request=", "join_request=%21%21", "join_request=AAAA", "join_request=CAESBAAAAAA"])
    func brokenJoinRequestsAreRefused(query: String) {
        #expect(throws: SignalRefusal.self) { try JoinParameters(request(query)) }
    }

    @Test func gzipBombsAreRefused() throws {
        // 10 MB of zeros.
        let bomb = try #require(gzip([UInt8](repeating: 0, count: 10 << 20)))
        #expect(bomb.count < 100_000)
        #expect(Gzip.decompress(bomb, limit: 1 << 20) == nil)
        #expect(Gzip.decompress(bomb, limit: 11 << 20)?.count == 10 << 20)
        #expect(Gzip.decompress(Array(bomb.dropLast(20)), limit: 11 << 20) == nil)
        #expect(Gzip.decompress([1, 2, 3], limit: 100) == nil)
        #expect(Gzip.decompress([], limit: 100) == nil)
    }

    private func gzip(_ bytes: [UInt8]) -> [UInt8]? {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "-c"]
        process.standardInput = input
        process.standardOutput = output
        guard (try? process.run()) != nil else { return nil }
        DispatchQueue.global().async {
            input.fileHandleForWriting.write(Data(bytes))
            try? input.fileHandleForWriting.close()
        }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return [UInt8](data)
    }

    @Test func bothBase64Alphabets() {
        #expect(JoinParameters.decodeBase64("-_8=") == [0xfb, 0xff])
        #expect(JoinParameters.decodeBase64("+/8") == [0xfb, 0xff])
        #expect(JoinParameters.decodeBase64(" /8=") == [0xfb, 0xff])
        #expect(JoinParameters.decodeBase64("A") == nil)
        #expect(JoinParameters.decodeBase64("A*==") == nil)
    }

    // MARK: Tokens

    private let authority = TokenAuthority(key: "devkey", secret: "secret", lifetime: .seconds(60))

    /// The vector of the reference: valid until 1700021600.
    private let vector =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJkZXZrZXkiLCJzdWIiOiJhbGljZSIsIm5iZiI6MTcwMDAwMDAwMCwiZXhwIjox"
        + "NzAwMDIxNjAwLCJuYW1lIjoiQWxpY2UiLCJ2aWRlbyI6eyJyb29tSm9pbiI6dHJ1ZSwicm9vbSI6ImRlbW8ifX0.fz88w5QXva6aMrg8iD"
        + "Fv3iWuwylBtCevfJvE9SLsXbY"

    @Test func aTokenMadeElsewhere() throws {
        let grants = try authority.verify(vector, now: Date(timeIntervalSince1970: 1_700_010_000))
        #expect(grants.identity == "alice")
        #expect(grants.name == "Alice")
        #expect(grants.room == "demo")
        #expect(grants.canPublish && grants.canSubscribe && grants.canPublishData)
        #expect(!grants.canUpdateOwnMetadata)
        try grants.checkJoin()
    }

    @Test(arguments: [1_699_999_000.0, 1_700_021_700.0])
    func tokensOutsideTheirTimeAreRefused(now: Double) {
        #expect(throws: SignalRefusal.invalidToken) {
            try authority.verify(vector, now: Date(timeIntervalSince1970: now))
        }
    }

    @Test func foreignTokensAreRefused() throws {
        let other = TokenAuthority(key: "devkey", secret: "other", lifetime: .seconds(60))
        var grants = JoinGrants()
        grants.identity = "bob"
        grants.kind = .agent
        grants.roomJoin = true
        grants.room = "r"
        grants.attributes = ["a": "b"]
        grants.dispatches = [.init(name: "helper", metadata: "m")]
        let token = try other.mint(grants)
        #expect(throws: SignalRefusal.invalidToken) { try authority.verify(token) }
        let read = try other.verify(token)
        #expect(read.kind == .agent)
        #expect(read.attributes == ["a": "b"])
        #expect(read.dispatches == grants.dispatches)
        for broken in ["", "a.b.c", "..", String(token.dropLast()), token + "x"] {
            #expect(throws: SignalRefusal.invalidToken) { try other.verify(broken) }
        }
    }

    @Test func grantsAreCheckedAsLiveKitDoes() {
        var grants = JoinGrants()
        #expect(throws: SignalRefusal.noPermissions) { try grants.checkJoin() }
        grants.hasVideo = true
        #expect(throws: SignalRefusal.permissionDenied) { try grants.checkJoin() }
        grants.roomJoin = true
        #expect(throws: SignalRefusal.identityEmpty) { try grants.checkJoin() }
        grants.identity = "x"
        #expect(throws: SignalRefusal.noRoomName) { try grants.checkJoin() }
        grants.room = "r"
        #expect(throws: Never.self) { try grants.checkJoin() }
        grants.identity = String(repeating: "x", count: 257)
        #expect(throws: SignalRefusal.identityTooLong) { try grants.checkJoin() }
    }
}
