public import LiveKitProtocol

/// Makes the packets of an outgoing data stream: a header, chunks and a trailer. Pure; ``Room/sendData(_:reliable:)``
/// sends them, in order.
public struct DataStreamWriter: Sendable {
    /// Bytes of content in one chunk; with its envelope a packet stays well below what every peer takes.
    public static let chunkSize = 15_000

    public let streamID: String
    private let destinations: [String]
    private let identity: String
    private var nextChunk: UInt64 = 0

    /// - Parameters:
    ///   - identity: the sender; another participant's for an agent that writes on its behalf.
    ///   - destinations: identities; empty means everybody else.
    public init(streamID: String, identity: String = "", destinations: [String] = []) {
        self.streamID = streamID
        self.identity = identity
        self.destinations = destinations
    }

    /// The packet that opens a text stream.
    /// - Parameters:
    ///   - timestamp: milliseconds since 1970.
    ///   - totalLength: bytes, when they are known.
    public func textHeader(
        topic: String, attributes: [String: String] = [:], timestamp: Int64, totalLength: UInt64? = nil
    ) -> DataPacket {
        header(topic, "text/plain", attributes, timestamp, totalLength, .textHeader(DataStream.TextHeader()))
    }

    /// The packet that opens a byte stream.
    public func byteHeader(
        topic: String, name: String, mimeType: String = "application/octet-stream", attributes: [String: String] = [:],
        timestamp: Int64, totalLength: UInt64? = nil
    ) -> DataPacket {
        var content = DataStream.ByteHeader()
        content.name = name
        return header(topic, mimeType, attributes, timestamp, totalLength, .byteHeader(content))
    }

    private func header(
        _ topic: String, _ mimeType: String, _ attributes: [String: String], _ timestamp: Int64, _ total: UInt64?,
        _ content: DataStream.Header.ContentHeader
    ) -> DataPacket {
        var header = DataStream.Header()
        header.streamId = streamID
        header.timestamp = timestamp
        header.topic = topic
        header.mimeType = mimeType
        header.totalLength = total
        header.attributes = attributes
        header.contentHeader = content
        return packet(.streamHeader(header))
    }

    /// The packets for more text, cut between code points.
    public mutating func write(_ text: String) -> [DataPacket] {
        var packets: [DataPacket] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            var end = min(rest.startIndex + Self.chunkSize, rest.endIndex)
            while end < rest.endIndex, rest[end] & 0xc0 == 0x80 { end -= 1 }
            packets.append(chunk(Array(rest[..<end])))
            rest = rest[end...]
        }
        return packets
    }

    /// The packets for more bytes.
    public mutating func write(_ bytes: [UInt8]) -> [DataPacket] {
        stride(from: 0, to: bytes.count, by: Self.chunkSize).map { start in
            chunk(Array(bytes[start..<min(start + Self.chunkSize, bytes.count)]))
        }
    }

    private mutating func chunk(_ content: [UInt8]) -> DataPacket {
        var chunk = DataStream.Chunk()
        chunk.streamId = streamID
        chunk.chunkIndex = nextChunk
        chunk.content = content
        nextChunk += 1
        return packet(.streamChunk(chunk))
    }

    /// The packet that ends the stream.
    /// - Parameters:
    ///   - attributes: merged over the header's.
    ///   - reason: empty for a good end.
    public func trailer(attributes: [String: String] = [:], reason: String = "") -> DataPacket {
        var trailer = DataStream.Trailer()
        trailer.streamId = streamID
        trailer.reason = reason
        trailer.attributes = attributes
        return packet(.streamTrailer(trailer))
    }

    private func packet(_ value: DataPacket.Value) -> DataPacket {
        var packet = DataPacket(value, to: destinations)
        packet.participantIdentity = identity
        return packet
    }
}
