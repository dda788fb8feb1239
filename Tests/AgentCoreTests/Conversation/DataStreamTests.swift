import AgentCore
import LiveKitProtocol
import LoopCore
import Testing

@Suite struct DataStreamTests {
    private let start = MonotonicTime(nanoseconds: 0)

    private func text(_ events: [DataStreamReader.Event]) -> String {
        events.reduce(into: "") { if case .text(let text, _) = $1 { $0 += text } }
    }

    @Test func textComesBackWholeAndEveryPacketIsSmall() {
        let original = String(repeating: "žluťoučký kůň 🐎👩‍👩‍👧 ", count: 3000)
        var writer = DataStreamWriter(streamID: "s", destinations: ["bob"])
        let packets =
            [writer.textHeader(topic: "lk.chat", timestamp: 1, totalLength: UInt64(original.utf8.count))]
            + writer.write(original) + [writer.trailer()]
        #expect(packets.count > 5)
        #expect(packets.allSatisfy { $0.serializedBytes().count < 16_000 && $0.destinationIdentities == ["bob"] })
        var reader = DataStreamReader()
        let events = packets.flatMap { reader.receive($0, now: start) }
        #expect(text(events) == original)
        guard case .closed? = events.last else {
            Issue.record("not closed")
            return
        }
        #expect(reader.openCount == 0)
    }

    @Test func charactersSplitAcrossChunksStayWhole() {
        var reader = DataStreamReader()
        let writer = DataStreamWriter(streamID: "s")
        var events = reader.receive(writer.textHeader(topic: "t", timestamp: 0), now: start)
        for (index, byte) in Array("a🐎é".utf8).enumerated() {
            events += reader.receive(chunk("s", UInt64(index), [byte]), now: start)
        }
        events += reader.receive(writer.trailer(), now: start)
        let texts = events.compactMap { event -> String? in if case .text(let text, _) = event { text } else { nil } }
        #expect(texts == ["a", "🐎", "é"])
    }

    @Test func interleavedStreamsDuplicatesAndLateChunks() {
        var reader = DataStreamReader()
        var events: [DataStreamReader.Event] = []
        for id in ["a", "b"] {
            events += reader.receive(DataStreamWriter(streamID: id).textHeader(topic: "t", timestamp: 0), now: start)
        }
        for (id, index, content) in [
            ("a", 0, "1"), ("b", 0, "x"), ("a", 0, "1"), ("a", 2, "3"), ("b", 1, "y"), ("a", 1, "2"), ("zzz", 0, "?"),
        ] {
            events += reader.receive(chunk(id, UInt64(index), Array(content.utf8)), now: start)
        }
        var byStream: [String: String] = [:]
        for case .text(let text, let info) in events { byStream[info.streamID, default: ""] += text }
        #expect(byStream == ["a": "123", "b": "xy"])
    }

    @Test func badEndsAreToldApart() {
        func failure(total: UInt64? = nil, chunks: [(UInt64, [UInt8])], reason: String = "") -> DataStreamReader
            .Failure?
        {
            var reader = DataStreamReader()
            let writer = DataStreamWriter(streamID: "s")
            var events = reader.receive(writer.textHeader(topic: "t", timestamp: 0, totalLength: total), now: start)
            for (index, content) in chunks { events += reader.receive(chunk("s", index, content), now: start) }
            events += reader.receive(writer.trailer(reason: reason), now: start)
            for case .failed(let failure, _) in events { return failure }
            return nil
        }
        #expect(failure(total: 5, chunks: [(0, [65])]) == .incomplete(expected: 5, got: 1))
        #expect(failure(total: 1, chunks: [(0, [65, 66])]) == .exceeded(expected: 1))
        #expect(failure(chunks: [(0, [65]), (2, [66])]) == .gap(expected: 1, got: 2))
        #expect(failure(chunks: [(0, [65])], reason: "cancelled") == .abnormalEnd("cancelled"))
        #expect(failure(chunks: [(0, [0xf0, 0x9f])]) == .invalidUTF8)
        #expect(failure(chunks: [(0, [0xff, 65, 65, 65, 65])]) == .invalidUTF8)
        #expect(failure(total: 1, chunks: [(0, [65])]) == nil)
    }

    @Test func openStreamsAreBoundedAndExpire() {
        var limits = DataStreamReader.Limits()
        limits.openStreams = 4
        limits.streamBytes = 10
        var reader = DataStreamReader(limits: limits)
        for number in 0..<100 {
            _ = reader.receive(
                DataStreamWriter(streamID: "s\(number)").textHeader(topic: "t", timestamp: 0),
                now: start + .milliseconds(Int64(number)))
        }
        #expect(reader.openCount == 4)
        let large = reader.receive(chunk("s99", 0, [UInt8](repeating: 65, count: 11)), now: start)
        guard case .failed(.tooLarge(limit: 10), _)? = large.last else {
            Issue.record("not refused")
            return
        }
        #expect(reader.expire(now: start + .seconds(120)).count == 3)
        #expect(reader.openCount == 0)
    }

    @Test func anIDMayBeUsedAgainAfterItsTrailer() {
        var reader = DataStreamReader()
        for round in 0..<2 {
            let writer = DataStreamWriter(streamID: "s")
            var events = reader.receive(writer.textHeader(topic: "t", timestamp: 0), now: start)
            events += reader.receive(chunk("s", 0, Array("round \(round)".utf8)), now: start)
            events += reader.receive(writer.trailer(), now: start)
            #expect(text(events) == "round \(round)")
        }
    }

    private func chunk(_ id: String, _ index: UInt64, _ content: [UInt8]) -> DataPacket {
        var chunk = DataStream.Chunk()
        chunk.streamId = id
        chunk.chunkIndex = index
        chunk.content = content
        var packet = DataPacket()
        packet.value = .streamChunk(chunk)
        return packet
    }
}
