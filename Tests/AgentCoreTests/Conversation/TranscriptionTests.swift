import Foundation
import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentCore

@Suite struct TranscriptionTests {
    private func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(Int64(seconds * 1000))
    }

    /// Feeds streams and packets in the form of the recorded session.
    private struct Feed {
        var reader = DataStreamReader()
        var reassembler = TranscriptionReassembler(ownIdentity: "user")
        var events: [TranscriptEvent] = []
        private var counters: [String: UInt64] = [:]

        mutating func packet(_ value: DataPacket.Value, from identity: String, _ now: MonotonicTime) {
            var packet = DataPacket()
            packet.participantIdentity = identity
            packet.value = value
            events += reassembler.handle(packet, now: now)
            for event in reader.receive(packet, now: now) { events += reassembler.handle(event, now: now) }
        }

        mutating func open(
            _ id: String, segment: String, from identity: String, final: String = "false", _ now: MonotonicTime
        ) {
            var header = DataStream.Header()
            header.streamId = id
            header.topic = "lk.transcription"
            header.contentHeader = .textHeader(DataStream.TextHeader())
            header.attributes = ["lk.segment_id": segment, "lk.transcription_final": final]
            counters[id] = 0
            packet(.streamHeader(header), from: identity, now)
        }

        mutating func chunk(_ id: String, _ text: String, from identity: String = "agent", _ now: MonotonicTime) {
            var chunk = DataStream.Chunk()
            chunk.streamId = id
            chunk.chunkIndex = counters[id, default: 0]
            chunk.content = Array(text.utf8)
            counters[id, default: 0] += 1
            packet(.streamChunk(chunk), from: identity, now)
        }

        mutating func close(_ id: String, _ attributes: [String: String] = [:], _ now: MonotonicTime) {
            var trailer = DataStream.Trailer()
            trailer.streamId = id
            trailer.attributes = attributes
            packet(.streamTrailer(trailer), from: "agent", now)
        }

        mutating func legacy(_ id: String, _ text: String, final: Bool, of identity: String, _ now: MonotonicTime) {
            var segment = TranscriptionSegment()
            segment.id = id
            segment.text = text
            segment.final = final
            var transcription = Transcription()
            transcription.transcribedParticipantIdentity = identity
            transcription.segments = [segment]
            packet(.transcription(transcription), from: "agent", now)
        }

        mutating func poll(_ now: MonotonicTime) { events += reassembler.poll(now: now) }

        var finals: [String] { events.filter(\.isFinal).map(\.text) }
        var texts: [String] { events.map(\.text) }
    }

    @Test func anAgentsDeltasAppendAndTheTrailerEndsThem() {
        var feed = Feed()
        feed.open("s", segment: "SG_1", from: "agent", at(0))
        for word in ["Hello,", " how", " are you?", " "] { feed.chunk("s", word, at(0.1)) }
        feed.close("s", ["lk.transcription_final": "true"], at(1))
        #expect(
            feed.texts == [
                "Hello,", "Hello, how", "Hello, how are you?", "Hello, how are you? ", "Hello, how are you? ",
            ])
        #expect(feed.events.map(\.delta) == ["Hello,", " how", " are you?", " ", ""])
        #expect(feed.events.map(\.isFinal) == [false, false, false, false, true])
        #expect(feed.reassembler.openCount == 0)
    }

    @Test func aUsersStreamsReplaceEachOtherAndTheFinalOneEnds() {
        var feed = Feed()
        for (index, text) in ["Hel", "Hello", "Hello there"].enumerated() {
            feed.open("u\(index)", segment: "SG_u", from: "user", at(Double(index)))
            feed.chunk("u\(index)", text, at(Double(index)))
            feed.close("u\(index)", [:], at(Double(index)))
        }
        feed.open("u3", segment: "SG_u", from: "user", final: "true", at(4))
        feed.chunk("u3", "Hello there", at(4))
        feed.close("u3", [:], at(4))
        #expect(feed.texts == ["Hel", "Hello", "Hello there", "Hello there"])
        #expect(feed.finals == ["Hello there"])
        #expect(feed.events.allSatisfy { $0.speaker == .user })
        // A repetition after the end is not shown again.
        feed.open("u4", segment: "SG_u", from: "user", final: "true", at(5))
        feed.chunk("u4", "Hello there", at(5))
        feed.close("u4", [:], at(5))
        #expect(feed.finals.count == 1)
    }

    @Test func twoParticipantsMayUseOneSegmentID() {
        var feed = Feed()
        feed.open("a", segment: "SG", from: "agent", at(0))
        feed.open("b", segment: "SG", from: "other", at(0))
        feed.chunk("a", "one", at(0))
        feed.chunk("b", "two", from: "other", at(0))
        feed.close("a", [:], at(0))
        feed.close("b", [:], at(0))
        #expect(feed.finals == ["one", "two"])
        #expect(feed.events.filter(\.isFinal).map(\.speaker) == [.agent("agent"), .agent("other")])
    }

    @Test func legacyPacketsOfASpeakerWithStreamsAreNotShown() {
        var feed = Feed()
        feed.legacy("L1", "Hello,", final: false, of: "agent", at(0))
        feed.open("s", segment: "SG_1", from: "agent", at(0.003))
        feed.chunk("s", "Hello, you", at(0.004))
        feed.legacy("L1", "Hello, you", final: true, of: "agent", at(0.1))
        feed.close("s", ["lk.transcription_final": "true"], at(0.1))
        feed.poll(at(2))
        feed.legacy("L2", "Late.", final: true, of: "agent", at(3))
        feed.poll(at(9))
        #expect(feed.finals == ["Hello, you"])
    }

    @Test func legacyPacketsAloneAreShown() {
        var feed = Feed()
        feed.legacy("L1", "Hello", final: false, of: "agent", at(0))
        feed.legacy("L1", "Hello you", final: true, of: "agent", at(0.3))
        #expect(feed.events.isEmpty)
        feed.poll(at(0.6))
        #expect(feed.finals == ["Hello you"])
        feed.legacy("L2", "More", final: false, of: "agent", at(1))
        feed.poll(at(1.6))
        feed.legacy("L2", "More words", final: true, of: "agent", at(1.8))
        #expect(feed.texts == ["Hello you", "More", "More words"])
        #expect(feed.finals == ["Hello you", "More words"])
    }

    @Test func aLostTrailerEndsWithItsSender() {
        var feed = Feed()
        feed.open("s", segment: "SG_1", from: "agent", at(0))
        feed.chunk("s", "Half a sen", at(0))
        for event in feed.reader.participantLeft(identity: "agent") {
            feed.events += feed.reassembler.handle(event, now: at(1))
        }
        #expect(feed.finals == ["Half a sen"])
        #expect(feed.reassembler.openCount == 0)
    }

    @Test func memoryStaysBoundedOverAMillionDeltas() {
        var feed = Feed()
        var shown = 0
        for segment in 0..<1000 {
            feed.open("s\(segment)", segment: "SG_\(segment)", from: "agent", at(0))
            for _ in 0..<1000 { feed.chunk("s\(segment)", "a ", at(0)) }
            feed.close("s\(segment)", [:], at(0))
            shown += feed.events.count
            feed.events = []
        }
        #expect(shown == 1_001_000)
        #expect(feed.reassembler.openCount == 0)
        #expect(feed.reader.openCount == 0)
    }

    @Test func aRealSessionComesOutOnceAndInOrder() throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fixtures/captures/real_agent_session.jsonl")
        let lines = try String(contentsOf: fixture, encoding: .utf8).split(separator: "\n")
        let records = try lines.compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        let agent = try #require(
            records.lazy.compactMap { $0["identity"] as? String }.first { $0.hasPrefix("agent") })
        let own = try #require(
            Set(records.compactMap { $0["identity"] as? String }).first { !$0.hasPrefix("agent") })
        var feed = Feed()
        feed.reassembler = TranscriptionReassembler(ownIdentity: own)
        var expected: [String: String] = [:]
        var streams: [String: String] = [:]
        var order: [String] = []
        for record in records {
            let now = at(record["t"] as? Double ?? 0)
            feed.poll(now)
            switch record["event"] as? String {
            case "stream_open":
                let attributes = record["attributes"] as? [String: String] ?? [:]
                let segment = try #require(attributes["lk.segment_id"])
                let id = try #require(record["stream_id"] as? String)
                feed.open(
                    id, segment: segment, from: record["identity"] as? String ?? agent,
                    final: attributes["lk.transcription_final"] ?? "false", now)
                if !order.contains(segment) { order.append(segment) }
                expected[segment] = ""
                streams[id] = segment
            case "stream_chunk":
                let id = try #require(record["stream_id"] as? String)
                feed.chunk(id, record["text"] as? String ?? "", now)
                if let segment = streams[id] { expected[segment, default: ""] += record["text"] as? String ?? "" }
            case "stream_close":
                feed.close(
                    try #require(record["stream_id"] as? String), record["attributes"] as? [String: String] ?? [:], now)
            case "legacy_transcription":
                for segment in record["segments"] as? [[String: Any]] ?? [] {
                    feed.legacy(
                        segment["id"] as? String ?? "", segment["text"] as? String ?? "",
                        final: segment["final"] as? Bool ?? false, of: record["identity"] as? String ?? agent, now)
                }
            default: break
            }
        }
        feed.poll(at(10_000))
        let finals = feed.events.filter(\.isFinal)
        #expect(finals.count >= 2)
        #expect(finals.map(\.segmentID) == order.filter { !(expected[$0] ?? "").allSatisfy(\.isWhitespace) })
        for event in finals { #expect(event.text == expected[event.segmentID]) }
        #expect(feed.reassembler.openCount == 0)
    }
}
