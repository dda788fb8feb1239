import CGLib
public import Foundation

/// A JSON Web Token (RFC 7519) as LiveKit uses them: HS256, the claims of LiveKit's access tokens.
public struct JSONWebToken: Sendable {
    /// What a token grants in a room (`video` claim). nil where the token says nothing.
    public struct VideoGrant: Sendable, Equatable {
        public var roomJoin: Bool?
        public var room: String?
        public var canPublish: Bool?
        public var canSubscribe: Bool?
        public var canPublishData: Bool?
        public var canUpdateOwnMetadata: Bool?
        /// Every grant with its value as text, for showing.
        public var all: [String: String] = [:]
    }

    /// The payload as it stands, one line of JSON.
    public let payload: String
    public let issuer: String?
    public let identity: String?
    public let name: String?
    public let kind: String?
    public let metadata: String?
    public let attributes: [String: String]
    public let notBefore: Date?
    public let issuedAt: Date?
    public let expiry: Date?
    public let video: VideoGrant?
    /// Names of the agents that the token dispatches (`roomConfig.agents`).
    public let agents: [String]

    /// Bytes; longer text is no token.
    static let maximumLength = 64 << 10

    /// Reads a token without checking its signature; nil when it is none.
    public init?(decoding token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count <= Self.maximumLength, let header = Self.decode(parts[0]),
            (try? JSONSerialization.jsonObject(with: header)) is [String: Any], let body = Self.decode(parts[1]),
            let claims = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
        else { return nil }
        payload = String(decoding: body, as: UTF8.self)
        issuer = claims["iss"] as? String
        identity = claims["sub"] as? String ?? claims["jti"] as? String
        name = claims["name"] as? String
        kind = claims["kind"] as? String
        metadata = claims["metadata"] as? String
        attributes = claims["attributes"] as? [String: String] ?? [:]
        notBefore = Self.date(claims["nbf"])
        issuedAt = Self.date(claims["iat"])
        expiry = Self.date(claims["exp"])
        video = (claims["video"] as? [String: Any]).map(Self.grant)
        let configuration = claims["roomConfig"] as? [String: Any] ?? claims["room_config"] as? [String: Any]
        agents = (configuration?["agents"] as? [[String: Any]] ?? []).map {
            $0["agentName"] as? String ?? $0["agent_name"] as? String ?? ""
        }
    }

    private static func grant(_ claims: [String: Any]) -> VideoGrant {
        var grant = VideoGrant()
        grant.roomJoin = claims["roomJoin"] as? Bool
        grant.room = claims["room"] as? String
        grant.canPublish = claims["canPublish"] as? Bool
        grant.canSubscribe = claims["canSubscribe"] as? Bool
        grant.canPublishData = claims["canPublishData"] as? Bool
        grant.canUpdateOwnMetadata = claims["canUpdateOwnMetadata"] as? Bool
        for (name, value) in claims {
            switch value {
            case let value as String: grant.all[name] = value
            case let value as Bool: grant.all[name] = value ? "true" : "false"
            default: grant.all[name] = "\(value)"
            }
        }
        return grant
    }

    private static func date(_ value: Any?) -> Date? {
        // Kept within what a calendar can show: the years 0 to 9999, nearly.
        (value as? NSNumber).map { Date(timeIntervalSince1970: min(max($0.doubleValue, -62e9), 253e9)) }
    }

    private static func decode(_ part: Substring) -> Data? {
        var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        return Data(base64Encoded: text)
    }

    // MARK: Signing

    /// The token with that payload, an object of JSON.
    public static func sign(payload: String, secret: String) -> String {
        let header = Base64URL.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8), padded: false)
        let body = Base64URL.encode(Array(payload.utf8), padded: false)
        let signature = hmacSHA256(Array("\(header).\(body)".utf8), key: Array(secret.utf8))
        return "\(header).\(body).\(Base64URL.encode(signature, padded: false))"
    }

    /// Whether a token carries the signature that `secret` makes; compared in constant time.
    public static func isSigned(_ token: String, with secret: String) -> Bool {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = decode(parts[2]) else { return false }
        let expected = hmacSHA256(Array("\(parts[0]).\(parts[1])".utf8), key: Array(secret.utf8))
        return signature.count == expected.count && zip(signature, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let hmac = g_hmac_new(G_CHECKSUM_SHA256, key, gsize(key.count))
        defer { g_hmac_unref(hmac) }
        message.withUnsafeBufferPointer { g_hmac_update(hmac, $0.baseAddress, gssize($0.count)) }
        var digest = [UInt8](repeating: 0, count: 32)
        var length = gsize(digest.count)
        g_hmac_get_digest(hmac, &digest, &length)
        return digest
    }
}
