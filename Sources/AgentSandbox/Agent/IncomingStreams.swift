import LiveKitProtocol

/// Puts the data streams together that the agent listens to. Pure and bounded; streams of other topics are ignored.
struct IncomingStreams: Sendable {
    /// A stream that is complete.
    struct Stream: Sendable, Equatable {
        var topic: String
        var sender: String
        var attributes: [String: String]
        var bytes: [UInt8]
        /// Why it ended early; empty when it is whole.
        var reason: String
    }

    private var open: [String: Stream] = [:]
    private let topics: Set<String>
    static let maximumOpen = 32
    /// Bytes of one stream; more is dropped. A pre-connect buffer of 10 s at 48 kHz takes 1 MB.
    static let maximumSize = 4 << 20

    init(topics: Set<String>) {
        self.topics = topics
    }

    /// Takes a packet; a stream that it ends comes out.
    mutating func receive(_ packet: DataPacket) -> Stream? {
        switch packet.value {
        case .streamHeader(let header):
            guard topics.contains(header.topic) else { return nil }
            let stream = Stream(
                topic: header.topic, sender: packet.participantIdentity, attributes: header.attributes,
                bytes: header.inlineContent ?? [], reason: "")
            if header.inlineContent != nil { return header.compression == .none ? stream : nil }
            guard open.count < Self.maximumOpen else { return nil }
            open[header.streamId] = stream
        case .streamChunk(let chunk):
            guard let size = open[chunk.streamId]?.bytes.count, size + chunk.content.count <= Self.maximumSize else {
                return nil
            }
            open[chunk.streamId]?.bytes += chunk.content
        case .streamTrailer(let trailer):
            guard var stream = open.removeValue(forKey: trailer.streamId) else { return nil }
            stream.attributes.merge(trailer.attributes) { _, new in new }
            stream.reason = trailer.reason
            return stream
        default:
            break
        }
        return nil
    }

    /// Forgets what a participant has not finished.
    mutating func remove(sender: String) {
        open = open.filter { $0.value.sender != sender }
    }
}
