public import LiveKitProtocol
public import LoopCore

/// Puts data streams together (`DataStream.Header`, `Chunk` and `Trailer` of LiveKit's data protocol).
///
/// Pure, and bounded: by the number of open streams, by bytes per stream and in total, and by an idle time after which
/// an open stream is given up. Text comes out as it arrives, cut only between whole characters.
public struct DataStreamReader: Sendable {
    /// What bounds the memory that open streams can take.
    public struct Limits: Sendable, Equatable {
        public var openStreams = 256
        /// Bytes of one stream.
        public var streamBytes = 64 << 20
        /// How long a stream may stay open without a packet.
        public var idle: Duration = .seconds(60)

        public init() {}
    }

    /// Why a stream did not end well.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// A chunk is missing before the given one.
        case gap(expected: UInt64, got: UInt64)
        /// Fewer or more bytes than the header announced.
        case incomplete(expected: UInt64, got: UInt64)
        case exceeded(expected: UInt64)
        /// The sender ended it so.
        case abnormalEnd(String)
        case tooLarge(limit: Int)
        case idle(Duration)
        case senderLeft
        /// A new stream took its id, or its place.
        case displaced
        case invalidUTF8

        public var description: String {
            switch self {
            case .gap(let expected, let got): "chunk \(expected) is missing; chunk \(got) came"
            case .incomplete(let expected, let got): "\(got) of \(expected) bytes came"
            case .exceeded(let expected): "more than the announced \(expected) bytes came"
            case .abnormalEnd(let reason): "the sender ended it: \(reason)"
            case .tooLarge(let limit): "it is larger than \(limit) bytes"
            case .idle(let limit): "nothing came for \(DisconnectCause.seconds(limit))"
            case .senderLeft: "its sender left"
            case .displaced: "another stream took its place"
            case .invalidUTF8: "its text is not UTF-8"
            }
        }
    }

    /// What a stream says of itself, without its content.
    public struct Info: Sendable, Equatable {
        public var streamID: String
        public var topic: String
        /// As the packet of the header has it; for text on behalf of a user, the user's.
        public var senderIdentity: String
        public var mimeType: String
        public var attributes: [String: String]
        public var isText: Bool
        /// The file name of a byte stream.
        public var name: String
        /// Bytes, where announced.
        public var totalLength: UInt64?
        /// Milliseconds since 1970.
        public var timestamp: Int64
    }

    public enum Event: Sendable, Equatable {
        case opened(Info)
        /// The next text of the stream, never empty.
        case text(String, Info)
        /// The next bytes of the stream, never empty.
        case bytes([UInt8], Info)
        /// Complete; the trailer's attributes are merged into the info's.
        case closed(Info)
        case failed(Failure, Info)
    }

    private struct Open: Sendable {
        var info: Info
        /// Who sends the chunks: the packet's sender, which may act on behalf of the header's.
        var carrier: String
        var nextChunk: UInt64 = 0
        var received: UInt64 = 0
        /// The start of a character whose end has not come.
        var partial: [UInt8] = []
        var lastPacket: MonotonicTime
        /// A gap is remembered and ends the stream at its trailer, unless the chunk comes late.
        var waiting: [UInt64: [UInt8]] = [:]
    }

    public let limits: Limits
    private var open: [String: Open] = [:]

    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// How many streams are open.
    public var openCount: Int { open.count }

    /// Takes a packet; packets that belong to no stream, or to one that is not known, change nothing.
    public mutating func receive(_ packet: DataPacket, now: MonotonicTime) -> [Event] {
        switch packet.value {
        case .streamHeader(let header)?: return receive(header, from: packet, now: now)
        case .streamChunk(let chunk)?: return receive(chunk, now: now)
        case .streamTrailer(let trailer)?: return receive(trailer)
        default: return []
        }
    }

    /// Gives up the streams of a participant that left.
    public mutating func participantLeft(identity: String) -> [Event] {
        fail(.senderLeft) { $0.info.senderIdentity == identity || $0.carrier == identity }
    }

    /// Gives up streams that have been idle for too long; call it now and then.
    public mutating func expire(now: MonotonicTime) -> [Event] {
        let limit = limits.idle
        return fail(.idle(limit)) { now - $0.lastPacket >= limit }
    }

    private mutating func fail(_ failure: Failure, where condition: (Open) -> Bool) -> [Event] {
        let ids = open.filter { condition($0.value) }.keys.sorted()
        return ids.compactMap { id in open.removeValue(forKey: id).map { .failed(failure, $0.info) } }
    }

    // MARK: Header

    private mutating func receive(_ header: DataStream.Header, from packet: DataPacket, now: MonotonicTime) -> [Event] {
        guard !header.streamId.isEmpty else { return [] }
        var events: [Event] = []
        if let old = open.removeValue(forKey: header.streamId) { events.append(.failed(.displaced, old.info)) }
        if open.count >= limits.openStreams, let oldest = open.min(by: { $0.value.lastPacket < $1.value.lastPacket }) {
            open[oldest.key] = nil
            events.append(.failed(.displaced, oldest.value.info))
        }
        var info = Info(
            streamID: header.streamId, topic: header.topic, senderIdentity: packet.participantIdentity,
            mimeType: header.mimeType, attributes: header.attributes, isText: true, name: "",
            totalLength: header.totalLength, timestamp: header.timestamp)
        if case .byteHeader(let bytes)? = header.contentHeader {
            info.isText = false
            info.name = bytes.name
        }
        events.append(.opened(info))
        if let inline = header.inlineContent, header.compression == .none {
            // The whole stream in its header: no chunks and no trailer follow.
            var stream = Open(info: info, carrier: packet.participantIdentity, lastPacket: now)
            events += append(inline, to: &stream)
            events.append(end(&stream))
            return events
        }
        open[header.streamId] = Open(info: info, carrier: packet.participantIdentity, lastPacket: now)
        return events
    }

    // MARK: Chunk

    private mutating func receive(_ chunk: DataStream.Chunk, now: MonotonicTime) -> [Event] {
        guard var stream = open.removeValue(forKey: chunk.streamId) else { return [] }
        // Reliable and ordered, so an earlier index is a duplicate.
        guard chunk.chunkIndex >= stream.nextChunk else {
            open[chunk.streamId] = stream
            return []
        }
        stream.lastPacket = now
        let waiting = stream.waiting.values.reduce(0) { $0 + $1.count }
        guard stream.received + UInt64(chunk.content.count + waiting) <= UInt64(limits.streamBytes) else {
            return [.failed(.tooLarge(limit: limits.streamBytes), stream.info)]
        }
        if chunk.chunkIndex > stream.nextChunk {
            guard stream.waiting.count < 64 else {
                return [.failed(.gap(expected: stream.nextChunk, got: chunk.chunkIndex), stream.info)]
            }
            stream.waiting[chunk.chunkIndex] = chunk.content
            open[chunk.streamId] = stream
            return []
        }
        var events = append(chunk.content, to: &stream)
        stream.nextChunk += 1
        while let next = stream.waiting.removeValue(forKey: stream.nextChunk) {
            events += append(next, to: &stream)
            stream.nextChunk += 1
        }
        if let total = stream.info.totalLength, stream.received > total {
            return events + [.failed(.exceeded(expected: total), stream.info)]
        }
        if events.contains(where: { if case .failed = $0 { true } else { false } }) { return events }
        open[chunk.streamId] = stream
        return events
    }

    private func append(_ content: [UInt8], to stream: inout Open) -> [Event] {
        stream.received += UInt64(content.count)
        guard !content.isEmpty else { return [] }
        guard stream.info.isText else { return [.bytes(content, stream.info)] }
        let bytes = stream.partial.isEmpty ? content : stream.partial + content
        let length = Self.wholeCharacters(in: bytes)
        stream.partial = Array(bytes[length...])
        guard length > 0 else { return [] }
        guard let text = String(validating: bytes[..<length], as: UTF8.self) else {
            return [.failed(.invalidUTF8, stream.info)]
        }
        return [.text(text, stream.info)]
    }

    /// The number of leading bytes that end between two code points; at most three bytes are held back.
    private static func wholeCharacters(in bytes: [UInt8]) -> Int {
        var start = bytes.count
        for _ in 0..<min(4, bytes.count) {
            start -= 1
            let byte = bytes[start]
            if byte & 0xc0 == 0x80 { continue }
            let length = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
            return start + length <= bytes.count ? bytes.count : start
        }
        return bytes.count
    }

    // MARK: Trailer

    private mutating func receive(_ trailer: DataStream.Trailer) -> [Event] {
        guard var stream = open.removeValue(forKey: trailer.streamId) else { return [] }
        stream.info.attributes.merge(trailer.attributes) { _, new in new }
        if !trailer.reason.isEmpty { return [.failed(.abnormalEnd(trailer.reason), stream.info)] }
        if let first = stream.waiting.keys.min() {
            return [.failed(.gap(expected: stream.nextChunk, got: first), stream.info)]
        }
        return [end(&stream)]
    }

    private func end(_ stream: inout Open) -> Event {
        if let total = stream.info.totalLength, stream.received != total {
            return .failed(
                stream.received < total
                    ? .incomplete(expected: total, got: stream.received) : .exceeded(expected: total), stream.info)
        }
        guard stream.partial.isEmpty else { return .failed(.invalidUTF8, stream.info) }
        return .closed(stream.info)
    }
}
