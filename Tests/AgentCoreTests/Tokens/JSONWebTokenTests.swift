import Foundation
import Testing

@testable import AgentCore

@Suite struct JSONWebTokenTests {
    /// Key `devkey`, secret `secret`.
    private static let vector =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJkZXZrZXkiLCJzdWIiOiJhbGljZSIsIm5iZiI6MTcwMDAwMDAwMCwiZXhwIjox"
        + "NzAwMDIxNjAwLCJuYW1lIjoiQWxpY2UiLCJ2aWRlbyI6eyJyb29tSm9pbiI6dHJ1ZSwicm9vbSI6ImRlbW8ifX0.fz88w5QXva6aMrg8iDFv3"
        + "iWuwylBtCevfJvE9SLsXbY"

    @Test func signsTheReferenceVector() {
        let payload =
            #"{"iss":"devkey","sub":"alice","nbf":1700000000,"exp":1700021600,"name":"Alice","#
            + #""video":{"roomJoin":true,"room":"demo"}}"#
        #expect(JSONWebToken.sign(payload: payload, secret: "secret") == Self.vector)
    }

    @Test func mintsTheReferenceVector() {
        var request = TokenRequest()
        request.participantName = "Alice"
        var grants = TokenMinter.Grants()
        grants.canUpdateOwnMetadata = false
        let token = TokenMinter(apiKey: "devkey", apiSecret: "secret").mint(
            identity: "alice", room: "demo", request: request, grants: grants,
            now: Date(timeIntervalSince1970: 1_700_000_000))
        #expect(token.value == Self.vector)
    }

    @Test func readsTheReferenceVector() throws {
        let token = try #require(JSONWebToken(decoding: Self.vector))
        #expect(token.issuer == "devkey")
        #expect(token.identity == "alice")
        #expect(token.name == "Alice")
        #expect(token.notBefore == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(token.expiry == Date(timeIntervalSince1970: 1_700_021_600))
        #expect(token.video?.roomJoin == true)
        #expect(token.video?.room == "demo")
        #expect(token.video?.canPublish == nil)
        #expect(token.agents == [])
    }

    @Test func checksSignatures() {
        #expect(JSONWebToken.isSigned(Self.vector, with: "secret"))
        #expect(!JSONWebToken.isSigned(Self.vector, with: "Secret"))
        #expect(!JSONWebToken.isSigned(Self.vector, with: ""))
        #expect(!JSONWebToken.isSigned(String(Self.vector.dropLast(2)), with: "secret"))
        #expect(
            !JSONWebToken.isSigned(Self.vector.replacingOccurrences(of: ".eyJpc3M", with: ".eyJpc3N"), with: "secret"))
        let unsigned = Self.vector.split(separator: ".").dropLast().joined(separator: ".") + "."
        #expect(!JSONWebToken.isSigned(unsigned, with: "secret"))
    }

    @Test func mintsEverythingThatIsAskedFor() throws {
        var request = TokenRequest()
        request.participantName = "Ada \"L\" é"
        request.participantMetadata = #"{"a":1}"#
        request.participantAttributes = ["b": "2", "a": "1"]
        request.agentName = "helper"
        request.agentMetadata = "x\ny"
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let text = TokenMinter(apiKey: "key", apiSecret: "s").mint(
            identity: "ada", room: "r 1", request: request, lifetime: .seconds(60), now: now)
        let token = try #require(JSONWebToken(decoding: text.value))
        #expect(JSONWebToken.isSigned(text.value, with: "s"))
        #expect(token.name == request.participantName)
        #expect(token.metadata == request.participantMetadata)
        #expect(token.attributes == request.participantAttributes)
        #expect(token.agents == ["helper"])
        #expect(token.payload.contains(#""roomConfig":{"agents":[{"agentName":"helper","metadata":"x\ny"}]}"#))
        #expect(token.expiry == now.addingTimeInterval(60))
        #expect(token.video?.canUpdateOwnMetadata == true)
    }

    @Test func acceptsTheOtherSpellings() throws {
        let token = try #require(
            JSONWebToken(
                decoding: JSONWebToken.sign(
                    payload: #"{"jti":"bob","exp":1.5e9,"room_config":{"agents":[{"agent_name":"a"},{}]}}"#, secret: "")
            ))
        #expect(token.identity == "bob")
        #expect(token.expiry == Date(timeIntervalSince1970: 1_500_000_000))
        #expect(token.agents == ["a", ""])
        // Padding and the standard alphabet, which some tools write.
        let parts = Self.vector.split(separator: ".").map { part in
            let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        }
        #expect(JSONWebToken(decoding: parts.joined(separator: "."))?.identity == "alice")
        #expect(JSONWebToken.isSigned("\(parts[0]).\(parts[1]).\(parts[2])", with: "secret") == (parts[1].last != "="))
    }

    @Test(arguments: [
        "", ".", "..", "a.b.c", "APIabcdefghijkl", "eyJhbGciOiJIUzI1NiJ9.e30", "e30.W10.x", "e30.e30", "e30.bnVsbA.x",
        "\u{0}.\u{0}.\u{0}", String(repeating: ".", count: 100_000), String(repeating: "A", count: 200_000) + ".e30.x",
    ])
    func garbageIsNoToken(text: String) {
        #expect(JSONWebToken(decoding: text) == nil)
    }

    @Test(arguments: [
        #"{"exp":1e300,"nbf":-1e300}"#, #"{"exp":"soon","video":[],"attributes":[1],"roomConfig":{"agents":{}}}"#,
        #"{"exp":true,"nbf":null,"video":{"roomJoin":"yes","room":7,"canPublish":{"a":[]}}}"#,
        #"{"exp":99999999999999999999999999,"sub":1}"#,
    ])
    func oddClaimsDoNoHarm(payload: String) async {
        let token = JSONWebToken.sign(payload: payload, secret: "s")
        #expect(JSONWebToken(decoding: token) != nil)
        let details = ConnectionDetails(serverURL: "ws://h", participantToken: AccessToken(token))
        #expect(TokenFetcher.check(details, serverDate: "Thu, 01 Jan 0001 00:00:00 GMT").error != nil)
    }

    @Test func deeplyNestedClaimsDoNoHarm() {
        let depth = 20_000
        let payload = "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        _ = JSONWebToken(decoding: JSONWebToken.sign(payload: payload, secret: "s"))
    }

    @Test func alteredTokensDoNoHarm() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var bytes = Array(Self.vector.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0x20...0x7E, using: &generator)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            _ = JSONWebToken(decoding: text)
            if text != Self.vector, text.split(separator: ".").count == 3 {
                // The last character holds two bits that say nothing.
                #expect(!JSONWebToken.isSigned(text, with: "secret") || text.dropLast() == Self.vector.dropLast())
            }
        }
    }

    @Test func tokensAreNotPrinted() {
        let token = AccessToken(Self.vector)
        for text in ["\(token)", String(reflecting: token), "\([token])", "\(Optional(token) as Any)"] {
            #expect(!text.contains("eyJ"))
        }
        var output = ""
        dump(ConnectionDetails(serverURL: "ws://h", participantToken: token), to: &output)
        #expect(!output.contains("eyJ"))
        dump(TokenMinter(apiKey: "k", apiSecret: "hidden-secret"), to: &output)
        dump(
            TokenSourceConfiguration.endpoint(url: "http://h", method: "POST", headers: [("A", "hidden-secret")]),
            to: &output)
        #expect(!output.contains("hidden-secret"))
        #expect(!"\(TokenMinter(apiKey: "k", apiSecret: "hidden-secret"))".contains("hidden-secret"))
    }
}
