import AgentCore
import Foundation
import LiveKitProtocol

/// Writes transcripts as data packets, the way LiveKit's agents do: text streams on `lk.transcription`, and legacy
/// Transcription packets beside them under segment ids of their own. Pure but for random ids and the clock's time.
struct TranscriptWriter: Sendable {
    static let topic = "lk.transcription"

    let sendsLegacy: Bool
    private var open: OpenStream?
    private var userSegments: [Int: (stream: String, legacy: String)] = [:]

    /// The agent's own words while it speaks.
    private struct OpenStream: Sendable {
        var writer: DataStreamWriter
        var segmentID: String
        var legacyID: String
        var trackSid: String
        var text = ""
    }

    init(sendsLegacy: Bool) {
        self.sendsLegacy = sendsLegacy
    }

    // MARK: The user

    /// One update of what the user says: a whole stream of its own, on behalf of the user.
    mutating func user(
        segment: Int, text: String, isFinal: Bool, identity: String, trackSid: String
    ) -> [DataPacket] {
        let ids = userSegments[segment] ?? (Self.makeSegmentID(), Self.makeSegmentID())
        // Only the segment that is being said is needed.
        userSegments = isFinal ? [:] : [segment: ids]
        let attributes = Self.attributes(segmentID: ids.stream, trackSid: trackSid, isFinal: isFinal)
        var writer = Self.makeWriter(identity: identity)
        var packets = [writer.textHeader(topic: Self.topic, attributes: attributes, timestamp: Self.milliseconds)]
        packets += writer.write(text)
        packets.append(writer.trailer())
        if sendsLegacy {
            packets.append(
                Self.legacy(id: ids.legacy, text: text, isFinal: isFinal, identity: identity, trackSid: trackSid))
        }
        return packets
    }

    // MARK: The agent

    /// Adds words to what the agent says; the first open its stream.
    mutating func agent(adding words: String, identity: String, trackSid: String) -> [DataPacket] {
        guard !words.isEmpty else { return [] }
        var packets: [DataPacket] = []
        var stream: OpenStream
        if let open {
            stream = open
        } else {
            stream = OpenStream(
                writer: Self.makeWriter(identity: identity), segmentID: Self.makeSegmentID(),
                legacyID: Self.makeSegmentID(), trackSid: trackSid)
            // The final flag comes with the trailer.
            let attributes = Self.attributes(segmentID: stream.segmentID, trackSid: trackSid, isFinal: false)
            packets.append(
                stream.writer.textHeader(topic: Self.topic, attributes: attributes, timestamp: Self.milliseconds))
        }
        packets += stream.writer.write(words)
        stream.text += words
        open = stream
        if sendsLegacy {
            packets.append(
                Self.legacy(
                    id: stream.legacyID, text: stream.text, isFinal: false, identity: identity, trackSid: trackSid))
        }
        return packets
    }

    /// Ends what the agent says.
    mutating func finishAgent(identity: String) -> [DataPacket] {
        guard let stream = open else { return [] }
        open = nil
        let attributes = Self.attributes(segmentID: stream.segmentID, trackSid: stream.trackSid, isFinal: true)
        var packets = [stream.writer.trailer(attributes: attributes)]
        if sendsLegacy {
            packets.append(
                Self.legacy(
                    id: stream.legacyID, text: stream.text, isFinal: true, identity: identity,
                    trackSid: stream.trackSid))
        }
        return packets
    }

    // MARK: Packets

    private static func makeSegmentID() -> String {
        "SG_" + String(UInt64.random(in: 0..<(1 << 48)), radix: 16)
    }

    private static func attributes(segmentID: String, trackSid: String, isFinal: Bool) -> [String: String] {
        [
            "lk.segment_id": segmentID, "lk.transcribed_track_id": trackSid,
            "lk.transcription_final": isFinal ? "true" : "false",
        ]
    }

    private static func makeWriter(identity: String) -> DataStreamWriter {
        DataStreamWriter(streamID: UUID().uuidString.lowercased(), identity: identity)
    }

    private static var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    private static func legacy(
        id: String, text: String, isFinal: Bool, identity: String, trackSid: String
    ) -> DataPacket {
        var segment = TranscriptionSegment()
        segment.id = id
        segment.text = text
        segment.final = isFinal
        var transcription = Transcription()
        transcription.transcribedParticipantIdentity = identity
        transcription.trackId = trackSid
        transcription.segments = [segment]
        var packet = DataPacket()
        packet.value = .transcription(transcription)
        return packet
    }
}
