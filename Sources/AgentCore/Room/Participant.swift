public import LiveKitProtocol

/// A participant of a room, as the server last described it.
public struct Participant: Sendable, Equatable {
    public var sid: String
    public var identity: String
    public var name: String
    public var kind: ParticipantInfo.Kind
    public var state: ParticipantInfo.State
    public var metadata: String
    public var attributes: [String: String]
    public var permission: ParticipantPermission?
    public var tracks: [PublishedTrack]
    var version: UInt32

    /// A track that a participant publishes.
    public struct PublishedTrack: Sendable, Equatable {
        public var sid: String
        public var name: String
        public var type: TrackType
        public var source: TrackSource
        public var isMuted: Bool
        public var mimeType: String
    }

    init(_ info: ParticipantInfo) {
        sid = info.sid
        identity = info.identity
        name = info.name
        kind = info.kind
        state = info.state
        metadata = info.metadata
        attributes = info.attributes
        permission = info.permission
        version = info.version
        tracks = info.tracks.map {
            PublishedTrack(
                sid: $0.sid, name: $0.name, type: $0.type, source: $0.source, isMuted: $0.muted, mimeType: $0.mimeType)
        }
    }

    /// Whether this is an agent: of kind agent, and not an avatar that stands in for one.
    public var isAgent: Bool { kind == .agent && attributes["lk.publish_on_behalf"] == nil }

    /// Whether it can receive data and media.
    public var isActive: Bool { state == .active }

    /// What the agent says it is doing; nil when it does not say.
    public var agentState: AgentState? {
        attributes[AgentState.attribute].map { AgentState(attribute: $0) }
    }
}
