/// Where a server's URL and a token come from.
public enum TokenSourceConfiguration: Sendable {
    /// Given outright.
    case literal(url: String, token: AccessToken)
    /// A token server with the standard contract: a JSON request with the members of ``TokenRequest``, a JSON answer
    /// with `server_url` and `participant_token` (or their camelCase spellings).
    case endpoint(url: String, method: String, headers: [(String, String)])
    /// The development token server of LiveKit Cloud, or of another base URL.
    case sandbox(id: String, baseURL: String)
    /// Made here.
    case local(url: String, minter: TokenMinter, lifetime: Duration)

    /// The base URL of LiveKit Cloud's sandbox endpoint.
    public static let cloudBaseURL = "https://cloud-api.livekit.io"
}

/// Headers of an endpoint may hold secrets and are not printed.
extension TokenSourceConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .literal: "a token given outright"
        case .endpoint: "a token endpoint"
        case .sandbox(let id, _): "the sandbox \(id)"
        case .local(_, let minter, _): "the key \(minter.apiKey)"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What to ask a token source for. Absent members are left to the source.
public struct TokenRequest: Sendable, Equatable {
    public var roomName: String?
    public var participantName: String?
    public var participantIdentity: String?
    public var participantMetadata: String?
    public var participantAttributes: [String: String] = [:]
    /// The agent to dispatch into the room.
    public var agentName: String?
    /// What the dispatched agent is given.
    public var agentMetadata: String?

    public init() {}

    /// Whether the old form of the sandbox endpoint, which knows room and name only, cannot express it.
    var needsBody: Bool {
        participantIdentity != nil || participantMetadata != nil || !participantAttributes.isEmpty || agentName != nil
    }

    func agentJSON(nameKey: String) -> JSONValue? {
        guard let agentName else { return nil }
        return .object(
            [(nameKey, .string(agentName))] + (agentMetadata.map { [("metadata", .string($0))] } ?? []))
    }

    /// The body of the standard contract (`livekit.TokenSourceRequest`), in snake_case.
    var body: JSONValue {
        var members: [(String, JSONValue)] = []
        if let roomName { members.append(("room_name", .string(roomName))) }
        if let participantName { members.append(("participant_name", .string(participantName))) }
        if let participantIdentity { members.append(("participant_identity", .string(participantIdentity))) }
        if let participantMetadata { members.append(("participant_metadata", .string(participantMetadata))) }
        if !participantAttributes.isEmpty {
            members.append(("participant_attributes", .strings(participantAttributes)))
        }
        if let agent = agentJSON(nameKey: "agent_name") {
            members.append(("room_config", .object([("agents", .array([agent]))])))
        }
        return .object(members)
    }
}

/// What a token source gave.
public struct ConnectionDetails: Sendable, Equatable {
    public var serverURL: String
    public var participantToken: AccessToken
    public var roomName: String?
    public var participantIdentity: String?

    public init(
        serverURL: String, participantToken: AccessToken, roomName: String? = nil, participantIdentity: String? = nil
    ) {
        self.serverURL = serverURL
        self.participantToken = participantToken
        self.roomName = roomName
        self.participantIdentity = participantIdentity
    }
}
