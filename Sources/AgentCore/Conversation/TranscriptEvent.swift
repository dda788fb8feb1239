public import LoopCore

/// What somebody said, as far as it is known: one segment of a transcript as it stands after an update.
public struct TranscriptEvent: Sendable, Equatable {
    public enum Speaker: Sendable, Equatable, Hashable {
        /// The participant that this program is.
        case user
        /// An agent, by identity; before it is known what somebody is, everybody else counts as one.
        case agent(String)
        /// Another participant that is no agent, by identity.
        case participant(String)
    }

    /// The id of the utterance (`lk.segment_id`).
    public var segmentID: String
    public var speaker: Speaker
    /// The whole text so far.
    public var text: String
    /// What the update appended; nil when it replaced the text.
    public var delta: String?
    /// Nothing more comes for this segment.
    public var isFinal: Bool
    public var language: String?
    /// When the first text of the segment arrived.
    public var firstAt: MonotonicTime
    public var updatedAt: MonotonicTime

    public init(
        segmentID: String, speaker: Speaker, text: String, delta: String?, isFinal: Bool, language: String?,
        firstAt: MonotonicTime, updatedAt: MonotonicTime
    ) {
        self.segmentID = segmentID
        self.speaker = speaker
        self.text = text
        self.delta = delta
        self.isFinal = isFinal
        self.language = language
        self.firstAt = firstAt
        self.updatedAt = updatedAt
    }
}

extension TranscriptEvent {
    var jsonMembers: [(String, JSONValue)] {
        let who: [(String, JSONValue)] =
            switch speaker {
            case .user: [("speaker", .string("user"))]
            case .agent(let identity): [("speaker", .string("agent")), ("identity", .string(identity))]
            case .participant(let identity): [("speaker", .string("participant")), ("identity", .string(identity))]
            }
        return [("segment", .string(segmentID))] + who + [
            ("text", .string(text)), ("final", .bool(isFinal)), ("language", .optional(language)),
        ]
    }
}
