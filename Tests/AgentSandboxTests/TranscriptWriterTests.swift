import LiveKitProtocol
import Testing

@testable import AgentSandbox

@Suite struct TranscriptWriterTests {
    private func header(_ packet: DataPacket) -> DataStream.Header? {
        if case .streamHeader(let header) = packet.value { header } else { nil }
    }

    private func legacy(_ packets: [DataPacket]) -> [TranscriptionSegment] {
        packets.flatMap { packet -> [TranscriptionSegment] in
            if case .transcription(let value) = packet.value { value.segments } else { [] }
        }
    }

    @Test func theAgentsWordsAreOneStreamThatEndsFinal() throws {
        var writer = TranscriptWriter(sendsLegacy: true)
        let first = writer.agent(adding: "We", identity: "agent", trackSid: "TR_a")
        let second = writer.agent(adding: " are", identity: "agent", trackSid: "TR_a")
        let last = writer.finishAgent(identity: "agent")
        let opened = try #require(first.first.flatMap(header))
        #expect(opened.topic == "lk.transcription")
        #expect(opened.attributes["lk.transcription_final"] == "false")
        #expect(opened.attributes["lk.transcribed_track_id"] == "TR_a")
        #expect(opened.attributes["lk.segment_id"]?.hasPrefix("SG_") == true)
        #expect(second.first.flatMap(header) == nil)
        guard case .streamTrailer(let trailer)? = last.first?.value else { throw Unexpected() }
        #expect(trailer.streamId == opened.streamId)
        #expect(trailer.attributes["lk.transcription_final"] == "true")
        #expect(trailer.attributes["lk.segment_id"] == opened.attributes["lk.segment_id"])
        // The legacy packets carry all of the text, under another id.
        let segments = legacy(first + second + last)
        #expect(segments.map(\.text) == ["We", "We are", "We are"])
        #expect(segments.map(\.final) == [false, false, true])
        #expect(Set(segments.map(\.id)).count == 1)
        #expect(segments.first?.id != opened.attributes["lk.segment_id"])
        #expect(writer.finishAgent(identity: "agent").isEmpty)
    }

    @Test func theUsersWordsAreAStreamPerUpdateOnBehalf() throws {
        var writer = TranscriptWriter(sendsLegacy: false)
        let interim = writer.user(segment: 1, text: "Hello", isFinal: false, identity: "user", trackSid: "TR_u")
        let final = writer.user(segment: 1, text: "Hello you", isFinal: true, identity: "user", trackSid: "TR_u")
        let next = writer.user(segment: 2, text: "More", isFinal: false, identity: "user", trackSid: "TR_u")
        let headers = [interim, final, next].compactMap { $0.first.flatMap(header) }
        try #require(headers.count == 3)
        #expect(Set(headers.map(\.streamId)).count == 3)
        #expect(headers.map { $0.attributes["lk.transcription_final"] } == ["false", "true", "false"])
        #expect(headers[0].attributes["lk.segment_id"] == headers[1].attributes["lk.segment_id"])
        #expect(headers[0].attributes["lk.segment_id"] != headers[2].attributes["lk.segment_id"])
        #expect(interim.count == 3)
        #expect(interim.first?.participantIdentity == "user")
    }

    struct Unexpected: Error {}
}
