import AgentCore
import LiveKitProtocol
import LoopCore

/// Collects whole data streams of the topics that the agent listens to. Pure and bounded.
struct IncomingStreams: Sendable {
    /// A stream that has ended well.
    struct Stream: Sendable, Equatable {
        var topic: String
        var sender: String
        var attributes: [String: String]
        var mimeType = ""
        var bytes: [UInt8]
    }

    private var reader: DataStreamReader
    private var contents: [String: [UInt8]] = [:]
    private let topics: Set<String>

    init(topics: Set<String>) {
        self.topics = topics
        var limits = DataStreamReader.Limits()
        limits.openStreams = 32
        // A pre-connect buffer of 10 s at 48 kHz takes 1 MB.
        limits.streamBytes = 4 << 20
        reader = DataStreamReader(limits: limits)
    }

    /// Takes a packet; the streams that it completes come out.
    mutating func receive(_ packet: DataPacket, now: MonotonicTime) -> [Stream] {
        reader.receive(packet, now: now).compactMap { take($0) }
    }

    private mutating func take(_ event: DataStreamReader.Event) -> Stream? {
        switch event {
        case .opened(let info):
            if topics.contains(info.topic) { contents[info.streamID] = [] }
        case .text(let text, let info):
            contents[info.streamID]? += Array(text.utf8)
        case .bytes(let bytes, let info):
            contents[info.streamID]? += bytes
        case .closed(let info):
            guard let bytes = contents.removeValue(forKey: info.streamID) else { return nil }
            return Stream(
                topic: info.topic, sender: info.senderIdentity, attributes: info.attributes,
                mimeType: info.mimeType, bytes: bytes)
        case .failed(_, let info):
            contents[info.streamID] = nil
        }
        return nil
    }

    /// Forgets what a participant has not finished.
    mutating func remove(sender: String) {
        for event in reader.participantLeft(identity: sender) { _ = take(event) }
    }
}
