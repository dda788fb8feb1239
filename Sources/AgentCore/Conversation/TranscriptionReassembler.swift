public import LiveKitProtocol
public import LoopCore

/// Merges the transcription of a conversation from its two forms into one sequence of ``TranscriptEvent``s.
///
/// - `lk.transcription` text streams: a segment is known by its id and its sender. Chunks of one stream append, a new
///   stream of the same segment replaces, and `lk.transcription_final` in header or trailer ends it.
/// - Legacy `Transcription` packets: cumulative text under ids of their own. The same speech comes in both forms, and
///   its packet often comes first, so packets of a speaker wait a moment: they are shown only while no streams of
///   that speaker have been seen.
///
/// Pure. Memory is bounded by what is open: segments that ended leave only their ids behind, a bounded number of them.
public struct TranscriptionReassembler: Sendable {
    /// The topic of transcription streams.
    public static let topic = "lk.transcription"

    public struct Limits: Sendable, Equatable {
        /// How long legacy packets wait for the streams of their speaker.
        public var legacyHold: Duration = .milliseconds(500)
        public var openSegments = 256
        /// Bytes of one segment's text; what comes beyond is cut off.
        public var segmentBytes = 1 << 20
        public var remembered = 1024

        public init() {}
    }

    private struct Key: Hashable, Sendable {
        var segment: String
        var identity: String
    }

    private struct Segment: Sendable {
        var text = ""
        var stream: String
        var firstAt: MonotonicTime
        var updatedAt: MonotonicTime
        /// What was last shown; empty before that.
        var shown = ""
        var isShown = false
    }

    private struct Held: Sendable {
        var key: Key
        var text: String
        var isFinal: Bool
        var language: String?
        var since: MonotonicTime
        var updatedAt: MonotonicTime
    }

    public let limits: Limits
    private let ownIdentity: String
    private var segments: [Key: Segment] = [:]
    private var streams: [String: Key] = [:]
    private var ended: [Key: Int] = [:]
    private var endedOrder: [Key] = []
    private var streamSpeakers: Set<TranscriptEvent.Speaker> = []
    private var held: [Held] = []
    private var legacyShown: [Key: MonotonicTime] = [:]

    /// - Parameter ownIdentity: of the participant that this program is; its transcripts are the user's.
    public init(ownIdentity: String, limits: Limits = Limits()) {
        self.ownIdentity = ownIdentity
        self.limits = limits
    }

    /// Segments that are open, held packets included.
    public var openCount: Int { segments.count + held.count }

    private func speaker(_ identity: String) -> TranscriptEvent.Speaker {
        identity == ownIdentity ? .user : .agent(identity)
    }

    // MARK: Streams

    /// Takes an event of a data stream; those of other topics change nothing.
    public mutating func handle(_ event: DataStreamReader.Event, now: MonotonicTime) -> [TranscriptEvent] {
        switch event {
        case .opened(let info): return info.topic == Self.topic && info.isText ? opened(info, now: now) : []
        case .text(let text, let info): return append(text, stream: info.streamID, now: now)
        case .bytes: return []
        case .closed(let info): return closed(info, complete: true, now: now)
        case .failed(_, let info): return closed(info, complete: false, now: now)
        }
    }

    private func key(_ info: DataStreamReader.Info) -> Key {
        Key(segment: info.attributes["lk.segment_id"] ?? info.streamID, identity: info.senderIdentity)
    }

    private static func isFinal(_ info: DataStreamReader.Info) -> Bool {
        info.attributes["lk.transcription_final"] == "true"
    }

    private mutating func opened(_ info: DataStreamReader.Info, now: MonotonicTime) -> [TranscriptEvent] {
        let key = key(info)
        dropHeld(speaker(key.identity))
        // A final segment stays final; a late repetition of it is not shown again.
        guard ended[key] == nil else { return [] }
        streams[info.streamID] = key
        if var segment = segments[key] {
            streams[segment.stream] = nil
            segment.stream = info.streamID
            segment.text = ""
            segments[key] = segment
            return []
        }
        var events: [TranscriptEvent] = []
        if segments.count >= limits.openSegments,
            let oldest = segments.min(by: { $0.value.updatedAt < $1.value.updatedAt })?.key
        {
            events = finish(oldest, now: now)
        }
        segments[key] = Segment(stream: info.streamID, firstAt: now, updatedAt: now)
        return events
    }

    private mutating func append(_ text: String, stream: String, now: MonotonicTime) -> [TranscriptEvent] {
        guard let key = streams[stream], let index = segments.index(forKey: key) else { return [] }
        guard segments.values[index].text.utf8.count + text.utf8.count <= limits.segmentBytes else { return [] }
        let isFresh = segments.values[index].text.isEmpty
        segments.values[index].text += text
        segments.values[index].updatedAt = now
        // The first text of a new stream replaces what was shown; the user's interim streams hold one chunk each.
        if isFresh && segments.values[index].isShown && segments.values[index].shown == segments.values[index].text {
            return []
        }
        let delta = isFresh && segments.values[index].isShown ? nil : text
        segments.values[index].isShown = true
        segments.values[index].shown = isFresh ? segments.values[index].text : segments.values[index].shown
        let segment = segments.values[index]
        return [
            TranscriptEvent(
                segmentID: key.segment, speaker: speaker(key.identity), text: segment.text, delta: delta,
                isFinal: false, language: nil, firstAt: segment.firstAt, updatedAt: now)
        ]
    }

    private mutating func closed(
        _ info: DataStreamReader.Info, complete: Bool, now: MonotonicTime
    ) -> [TranscriptEvent] {
        guard let key = streams.removeValue(forKey: info.streamID) else { return [] }
        // The user's interim streams close one by one and are followed by another of the same segment. An agent's
        // segment is one stream, so its end is the segment's, trailer attributes or not.
        let isOver = Self.isFinal(info) || key.identity != ownIdentity || !complete
        return isOver ? finish(key, now: now) : []
    }

    private mutating func finish(_ key: Key, now: MonotonicTime) -> [TranscriptEvent] {
        guard let segment = segments.removeValue(forKey: key) else { return [] }
        streams[segment.stream] = nil
        remember(key)
        let text = segment.text.isEmpty ? segment.shown : segment.text
        guard !text.allSatisfy(\.isWhitespace) else { return [] }
        return [
            TranscriptEvent(
                segmentID: key.segment, speaker: speaker(key.identity), text: text, delta: "", isFinal: true,
                language: nil, firstAt: segment.firstAt, updatedAt: now)
        ]
    }

    private mutating func remember(_ key: Key) {
        ended[key] = 1
        endedOrder.append(key)
        if endedOrder.count > limits.remembered { ended[endedOrder.removeFirst()] = nil }
    }

    // MARK: Legacy packets

    /// Takes a packet; those that are no transcription change nothing. The held ones come out of ``poll(now:)``.
    public mutating func handle(_ packet: DataPacket, now: MonotonicTime) -> [TranscriptEvent] {
        guard case .transcription(let transcription)? = packet.value else { return [] }
        let identity =
            transcription.transcribedParticipantIdentity.isEmpty
            ? packet.participantIdentity : transcription.transcribedParticipantIdentity
        guard !streamSpeakers.contains(speaker(identity)) else { return [] }
        for segment in transcription.segments.prefix(64) {
            let key = Key(segment: segment.id, identity: identity)
            guard ended[key] == nil else { continue }
            let language = segment.language.isEmpty ? nil : segment.language
            if let index = held.firstIndex(where: { $0.key == key }) {
                held[index].text = segment.text
                held[index].isFinal = segment.final
                held[index].updatedAt = now
                continue
            }
            if held.count >= limits.openSegments { held.removeFirst() }
            held.append(
                Held(
                    key: key, text: segment.text, isFinal: segment.final, language: language, since: now,
                    updatedAt: now))
        }
        return poll(now: now)
    }

    /// Lets go of legacy text whose speaker has sent no stream in time. Call it every 100 ms or so.
    public mutating func poll(now: MonotonicTime) -> [TranscriptEvent] {
        var events: [TranscriptEvent] = []
        var kept: [Held] = []
        for entry in held {
            let firstAt = legacyShown[entry.key]
            guard firstAt != nil || now - entry.since >= limits.legacyHold else {
                kept.append(entry)
                continue
            }
            events.append(
                TranscriptEvent(
                    segmentID: entry.key.segment, speaker: speaker(entry.key.identity), text: entry.text, delta: nil,
                    isFinal: entry.isFinal, language: entry.language, firstAt: firstAt ?? entry.since,
                    updatedAt: entry.updatedAt))
            if entry.isFinal {
                legacyShown[entry.key] = nil
                remember(entry.key)
            } else {
                if legacyShown.count >= limits.openSegments { legacyShown.removeAll() }
                legacyShown[entry.key] = firstAt ?? entry.since
            }
        }
        held = kept
        return events
    }

    private mutating func dropHeld(_ speaker: TranscriptEvent.Speaker) {
        guard streamSpeakers.insert(speaker).inserted else { return }
        if streamSpeakers.count > limits.remembered { streamSpeakers = [speaker] }
        held = held.filter { self.speaker($0.key.identity) != speaker }
    }
}
