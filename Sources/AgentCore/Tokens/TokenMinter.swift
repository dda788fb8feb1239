public import Foundation

/// Makes access tokens from a server's key and secret (reference: LiveKit access tokens, HS256).
public struct TokenMinter: Sendable {
    /// What may be asked of a token in the room.
    public struct Grants: Sendable, Equatable {
        public var canPublish = true
        public var canSubscribe = true
        public var canPublishData = true
        public var canUpdateOwnMetadata = true

        public init() {}
    }

    public let apiKey: String
    private let apiSecret: String

    public init(apiKey: String, apiSecret: String) {
        self.apiKey = apiKey
        self.apiSecret = apiSecret
    }

    /// Whether there are a key and a secret.
    var isComplete: Bool { ![apiKey, apiSecret].contains { $0.allSatisfy(\.isWhitespace) } }

    /// Makes a token that lets `identity` join `room`.
    /// - Parameters:
    ///   - lifetime: from `now` to its expiry.
    ///   - request: name, metadata, attributes and agent dispatch.
    public func mint(
        identity: String, room: String, request: TokenRequest = TokenRequest(), grants: Grants = Grants(),
        lifetime: Duration = .seconds(6 * 3600), now: Date = Date()
    ) -> AccessToken {
        let seconds = Int64(now.timeIntervalSince1970)
        var claims: [(String, JSONValue)] = [
            ("iss", .string(apiKey)), ("sub", .string(identity)), ("nbf", .integer(seconds)),
            ("exp", .integer(seconds + lifetime.components.seconds)),
        ]
        if let name = request.participantName { claims.append(("name", .string(name))) }
        if let metadata = request.participantMetadata { claims.append(("metadata", .string(metadata))) }
        if !request.participantAttributes.isEmpty {
            claims.append(("attributes", .strings(request.participantAttributes)))
        }
        var video: [(String, JSONValue)] = [("roomJoin", .bool(true)), ("room", .string(room))]
        // Absent means allowed, and not allowed for metadata.
        if !grants.canPublish { video.append(("canPublish", .bool(false))) }
        if !grants.canSubscribe { video.append(("canSubscribe", .bool(false))) }
        if grants.canPublishData != grants.canPublish { video.append(("canPublishData", .bool(grants.canPublishData))) }
        if grants.canUpdateOwnMetadata { video.append(("canUpdateOwnMetadata", .bool(true))) }
        claims.append(("video", .object(video)))
        if let agent = request.agentJSON(nameKey: "agentName") {
            claims.append(("roomConfig", .object([("agents", .array([agent]))])))
        }
        return AccessToken(JSONWebToken.sign(payload: JSONValue.object(claims).line, secret: apiSecret))
    }
}

extension JSONValue {
    static func strings(_ values: [String: String]) -> JSONValue {
        .object(values.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
    }
}

/// The secret is not printed.
extension TokenMinter: CustomStringConvertible, CustomReflectable {
    public var description: String { "TokenMinter(apiKey: \(apiKey))" }
    public var customMirror: Mirror { Mirror(self, children: ["apiKey": apiKey]) }
}
