import Foundation
import Testing

@testable import RTCTransport

/// The session descriptions of the recorded signaling.
enum CapturedSDP {
    struct Entry {
        var connection: Int
        var isOffer: Bool
        var isServer: Bool
        var sdp: String
    }

    static func entries(_ name: String) throws -> [Entry] {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        let text = try String(
            contentsOf: folder.appendingPathComponent("Fixtures/captures/\(name).jsonl"), encoding: .utf8)
        var entries: [Entry] = []
        for line in text.split(separator: "\n") {
            guard let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                continue
            }
            let connection = record["conn"] as? Int ?? 0
            if let join = record["join_request"] as? [String: Any],
                let offer = join["publisher_offer"] as? [String: Any],
                let sdp = offer["sdp"] as? String
            {
                entries.append(Entry(connection: connection, isOffer: true, isServer: false, sdp: sdp))
            }
            guard let message = record["message"] as? [String: Any] else { continue }
            for kind in ["offer", "answer"] {
                guard let sdp = (message[kind] as? [String: Any])?["sdp"] as? String else { continue }
                entries.append(
                    Entry(
                        connection: connection, isOffer: kind == "offer",
                        isServer: record["dir"] as? String == "server",
                        sdp: sdp))
            }
        }
        return entries
    }

    static let names = ["python_sdk", "python_sdk_events", "lk_cli_dual_pc"]
}

@Suite struct SDPTests {
    private let local = Negotiator.LocalTransport(
        iceUfrag: "abcd", icePwd: "0123456789abcdef012345", fingerprint: "AA:BB", role: nil, maxMessageSize: 262_144)

    @Test(arguments: CapturedSDP.names) func recordedDescriptionsComeBackAsTheyWere(name: String) throws {
        let entries = try CapturedSDP.entries(name)
        #expect(entries.count >= 4)
        for entry in entries {
            let message = try SDPMessage(parsing: entry.sdp)
            #expect(message.text == entry.sdp)
            let transport = try #require(message.transport)
            #expect(transport.fingerprints.first?.algorithm == "sha-256")
        }
    }

    @Test(arguments: CapturedSDP.names) func everyRecordedOfferIsAnswered(name: String) throws {
        let offers = try CapturedSDP.entries(name).filter(\.isOffer)
        for connection in Set(offers.map(\.connection)) {
            for isServer in [false, true] {
                var negotiator = Negotiator(cname: "test")
                for entry in offers where entry.connection == connection && entry.isServer == isServer {
                    let offer = try SDPMessage(parsing: entry.sdp)
                    // A connection that starts over has fewer sections.
                    if offer.sections.count < negotiator.sections.count { negotiator = Negotiator(cname: "test") }
                    _ = try negotiator.setRemote(.offer, offer, localOffer: nil)
                    let answer = try SDPMessage(parsing: try negotiator.createAnswer(local).text)
                    try negotiator.setLocal(.answer, answer)
                    check(answer, answers: offer)
                }
            }
        }
    }

    private func check(_ answer: SDPMessage, answers offer: SDPMessage) {
        #expect(answer.sections.count == offer.sections.count)
        for (mine, theirs) in zip(answer.sections, offer.sections) {
            #expect(mine.media == theirs.media)
            #expect(mine.mid == theirs.mid)
            #expect(Set(mine.formats).isSubset(of: Set(theirs.formats)))
            #expect(!mine.formats.isEmpty)
            if mine.media == "video" { #expect(mine.direction == .inactive) }
            if mine.media == "audio", mine.port != 0 {
                #expect(mine.codecs.contains { $0.isNamed("opus") })
                #expect(mine.direction.receives == theirs.direction.sends)
                #expect(mine.extensions.allSatisfy { theirs.extensions.contains($0) })
            }
            #expect(mine.attributes.value("setup") == "active" || mine.port == 0)
        }
        let bundle = answer.attributes.value("group")?.split(separator: " ").dropFirst().map(String.init) ?? []
        #expect(bundle == answer.sections.filter { $0.port != 0 }.compactMap(\.mid))
    }

    @Test func recordedAnswersFitOffersOfOurs() throws {
        for name in ["python_sdk", "python_sdk_events"] {
            for entry in try CapturedSDP.entries(name) where !entry.isOffer && entry.isServer {
                let answer = try SDPMessage(parsing: entry.sdp)
                var negotiator = Negotiator(cname: "test")
                for section in answer.sections {
                    switch section.media {
                    case "audio":
                        let sends = section.direction.receives
                        _ = negotiator.addMedia(.audio, direction: sends ? .sendonly : .recvonly, msid: nil, ssrc: 1)
                    case "video": _ = negotiator.addMedia(.video, direction: .recvonly, msid: nil, ssrc: 1)
                    default: negotiator.addApplication()
                    }
                }
                let offer = try negotiator.createOffer(local)
                try negotiator.setLocal(.offer, offer)
                _ = try negotiator.setRemote(.answer, answer, localOffer: offer)
                #expect(negotiator.state == .stable)
                for (section, remote) in zip(negotiator.sections, answer.sections) where remote.media == "audio" {
                    #expect(section.currentDirection?.receives == remote.direction.sends)
                    #expect(section.agreed?.opusPayloadType == 111)
                }
            }
        }
    }

    @Test func formatParametersAreToldApartExactly() {
        let parameters = FormatParameters(parsing: "minptime=10; useinbandfec=1;sprop-stereo=1")
        #expect(!parameters.isSet("stereo"))
        #expect(parameters.isSet("sprop-stereo") && parameters.isSet("useinbandfec"))
        #expect(FormatParameters(parsing: "111/111").description == "111/111")
    }

    @Test func wrongStatesAreRefused() throws {
        let entries = try CapturedSDP.entries("python_sdk")
        let offer = try SDPMessage(parsing: try #require(entries.first { $0.isOffer }).sdp)
        let answer = try SDPMessage(parsing: try #require(entries.first { !$0.isOffer }).sdp)
        var negotiator = Negotiator(cname: "test")
        #expect(throws: NegotiationError.self) { try negotiator.setRemote(.answer, answer, localOffer: nil) }
        #expect(throws: NegotiationError.self) { try negotiator.createAnswer(local) }
        _ = try negotiator.setRemote(.offer, offer, localOffer: nil)
        #expect(throws: NegotiationError.self) { try negotiator.setRemote(.offer, offer, localOffer: nil) }
        #expect(throws: NegotiationError.self) { try negotiator.createOffer(local) }
        var short = Negotiator(cname: "test")
        short.addApplication()
        let mine = try short.createOffer(local)
        try short.setLocal(.offer, mine)
        #expect(throws: NegotiationError.self) { try short.setRemote(.answer, answer, localOffer: mine) }
        #expect(short.state == .haveLocalOffer)
    }

    @Test func sectionsAreNeverDropped() throws {
        let entries = try CapturedSDP.entries("python_sdk").filter { $0.isOffer && $0.connection == 2 }
        var negotiator = Negotiator(cname: "test")
        var offer = try SDPMessage(parsing: entries[0].sdp)
        _ = try negotiator.setRemote(.offer, offer, localOffer: nil)
        try negotiator.setLocal(.answer, try negotiator.createAnswer(local))
        offer.sections.removeLast()
        #expect(throws: NegotiationError.self) { try negotiator.setRemote(.offer, offer, localOffer: nil) }
    }

    @Test func missingTransportsAreRefused() throws {
        let text = try #require(CapturedSDP.entries("python_sdk").first { $0.isOffer }).sdp
        for name in ["ice-ufrag", "ice-pwd"] {
            let without = text.components(separatedBy: "\r\n").filter { !$0.hasPrefix("a=\(name):") }
            var negotiator = Negotiator(cname: "test")
            let message = try SDPMessage(parsing: without.joined(separator: "\r\n"))
            #expect(throws: NegotiationError.missingTransport) {
                try negotiator.setRemote(.offer, message, localOffer: nil)
            }
        }
    }

    @Test func faultsNameTheirLine() {
        #expect(throws: SDPError.missingVersion) { try SDPMessage(parsing: "") }
        #expect(throws: SDPError.missingVersion) { try SDPMessage(parsing: "o=x\r\n") }
        #expect(throws: SDPError.malformedLine(2)) { try SDPMessage(parsing: "v=0\r\nnonsense\r\n") }
        #expect(throws: SDPError.malformedMedia(2)) { try SDPMessage(parsing: "v=0\r\nm=audio x y z\r\n") }
        #expect(throws: SDPError.self) {
            try SDPMessage(parsing: "v=0\r\n" + String(repeating: "a=x\r\n", count: 30_000))
        }
        #expect(throws: SDPError.self) {
            try SDPMessage(parsing: "v=0\r\n" + String(repeating: "m=audio 9 RTP/AVP 0\r\n", count: 600))
        }
        #expect(throws: SDPError.self) { try SDPMessage(parsing: "v=0\r\na=" + String(repeating: "x", count: 2 << 20)) }
    }

    @Test func candidatesInJSON() throws {
        let recorded = #"{"sdpMid":"0","sdpMLineIndex":0,"candidate":"candidate:1 1 udp 1 192.0.2.2 40396 typ host"}"#
        let candidate = try #require(ICECandidate(json: recorded))
        #expect(candidate.sdpMid == "0" && candidate.candidate.hasPrefix("candidate:1 "))
        let written = ICECandidate(candidate: "candidate:x", sdpMid: nil, sdpMLineIndex: nil).json
        for key in ["candidate", "sdpMid", "sdpMLineIndex"] { #expect(written.contains("\"\(key)\"")) }
        for garbage in ["", "{", "[]", "{\"candidate\":7}", "null", String(repeating: "x", count: 10_000)] {
            #expect(ICECandidate(json: garbage) == nil)
        }
    }

    @Test func alteredDescriptionsDoNoHarm() throws {
        var generator = SeededGenerator(seed: 11)
        let texts = try CapturedSDP.entries("python_sdk").prefix(4).map { Array($0.sdp.utf8) }
        for _ in 0..<2_000 {
            var bytes = texts.randomElement(using: &generator) ?? []
            bytes = Array(bytes.prefix(Int.random(in: 0...2_500, using: &generator)))
            for _ in 0..<Int.random(in: 0...8, using: &generator) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let message = try? SDPMessage(parsing: String(decoding: bytes, as: UTF8.self)) else { continue }
            for section in message.sections { _ = (section.codecs, section.extensions, section.msid, section.ssrcs) }
            var negotiator = Negotiator(cname: "test")
            if (try? negotiator.setRemote(.offer, message, localOffer: nil)) != nil {
                _ = try negotiator.createAnswer(local)
            }
        }
    }
}
