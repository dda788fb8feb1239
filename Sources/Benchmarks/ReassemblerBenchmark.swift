import AgentCore
import LiveKitProtocol
import LoopCore

/// How many deltas of transcripts go through stream reading and reassembly a second, on one core.
enum ReassemblerBenchmark {
    static func figures() throws -> [Figure] {
        let segments = 500
        let deltas = 1000
        let packets = (0..<segments).map { Self.packets(segment: $0, deltas: deltas) }
        var shown = 0
        let before = residentMegabytes()
        let seconds = leastCPUSeconds {
            var reader = DataStreamReader()
            var reassembler = TranscriptionReassembler(ownIdentity: "user")
            shown = 0
            let now = MonotonicTime(nanoseconds: 0)
            for segment in packets {
                for packet in segment {
                    for event in reader.receive(packet, now: now) {
                        for transcript in reassembler.handle(event, now: now) { shown += transcript.isFinal ? 0 : 1 }
                    }
                }
            }
        }
        return [
            Figure(
                name: "reassembler, deltas a second", value: Double(shown) / seconds, unit: "/s",
                target: .atLeast(1_000_000), note: "streams of \(deltas) deltas, one after the other"),
            Figure(
                name: "reassembler, memory after \(segments * deltas) deltas",
                value: max(0, residentMegabytes() - before),
                unit: "MB", target: .atMost(2)),
        ]
    }

    private static func packets(segment: Int, deltas: Int) -> [DataPacket] {
        var writer = DataStreamWriter(streamID: "s\(segment)", identity: "agent")
        let attributes = ["lk.segment_id": "SG_\(segment)", "lk.transcription_final": "false"]
        let header = writer.textHeader(topic: TranscriptionReassembler.topic, attributes: attributes, timestamp: 0)
        return [header] + (0..<deltas).flatMap { _ in writer.write("word ") } + [writer.trailer()]
    }
}
