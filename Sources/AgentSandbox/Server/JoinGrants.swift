import LiveKitProtocol

/// What a verified token allows.
struct JoinGrants: Sendable, Equatable {
    var identity = ""
    var name = ""
    var kind = ParticipantInfo.Kind.standard
    var metadata = ""
    var attributes: [String: String] = [:]
    /// Whether the token has video grants at all.
    var hasVideo = false
    var roomJoin = false
    var room = ""
    var canPublish = true
    var canSubscribe = true
    var canPublishData = true
    /// Empty for any source.
    var canPublishSources: [TrackSource] = []
    var canUpdateOwnMetadata = false
    var hidden = false
    var agent = false
    /// Agents that the token asks for.
    var dispatches: [AgentDispatch] = []

    struct AgentDispatch: Sendable, Equatable {
        var name = ""
        var metadata = ""
    }

    /// Bytes, as LiveKit's server limits them.
    private static let maximumNameLength = 256

    /// Checks what joining needs.
    /// - Throws: ``SignalRefusal`` with the status and words of LiveKit's server.
    func checkJoin() throws(SignalRefusal) {
        guard hasVideo else { throw .noPermissions }
        guard roomJoin else { throw .permissionDenied }
        guard !identity.isEmpty else { throw .identityEmpty }
        guard identity.utf8.count <= Self.maximumNameLength else { throw .identityTooLong }
        guard !room.isEmpty else { throw .noRoomName }
        guard room.utf8.count <= Self.maximumNameLength else { throw .roomNameTooLong }
    }

    var permission: ParticipantPermission {
        var permission = ParticipantPermission()
        permission.canSubscribe = canSubscribe
        permission.canPublish = canPublish
        permission.canPublishData = canPublishData
        permission.canPublishSources = canPublishSources
        permission.canUpdateMetadata = canUpdateOwnMetadata
        permission.hidden = hidden
        permission.agent = agent
        return permission
    }

    func mayPublish(_ source: TrackSource) -> Bool {
        canPublish && (canPublishSources.isEmpty || canPublishSources.contains(source))
    }
}
