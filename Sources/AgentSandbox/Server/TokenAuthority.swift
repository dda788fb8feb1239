import CGLib
import Foundation
import LiveKitProtocol

/// Mints and checks the server's tokens (JWT, HS256).
struct TokenAuthority: Sendable {
    let key: String
    private let secret: String
    private let lifetime: Duration
    /// Seconds by which clocks may differ.
    private static let leeway = 60.0
    private static let maximumLength = 64 << 10

    init(key: String, secret: String, lifetime: Duration) {
        self.key = key
        self.secret = secret
        self.lifetime = lifetime
    }

    // MARK: Checking

    /// What a token allows.
    /// - Throws: ``SignalRefusal/invalidToken`` for a wrong signature, another issuer, or one that is not valid now.
    func verify(_ token: String, now: Date = Date()) throws(SignalRefusal) -> JoinGrants {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, token.utf8.count <= Self.maximumLength,
            let header = Self.object(parts[0]), header["alg"] as? String == "HS256",
            let signature = JoinParameters.decodeBase64(String(parts[2])),
            Self.isEqual(signature, sign("\(parts[0]).\(parts[1])")), let claims = Self.object(parts[1]),
            claims["iss"] as? String == key, let expiry = Self.number(claims["exp"])
        else { throw .invalidToken }
        let seconds = now.timeIntervalSince1970
        guard seconds < expiry + Self.leeway, seconds + Self.leeway >= Self.number(claims["nbf"]) ?? 0 else {
            throw .invalidToken
        }
        return JoinGrants(claims: claims)
    }

    private static func object(_ part: Substring) -> [String: Any]? {
        guard let bytes = JoinParameters.decodeBase64(String(part)) else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    }

    private static func number(_ value: Any?) -> Double? { (value as? NSNumber)?.doubleValue }

    /// In a time that does not depend on where the first difference is.
    private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    // MARK: Minting

    /// - Throws: when the grants cannot be written as JSON.
    func mint(_ grants: JoinGrants, now: Date = Date()) throws -> String {
        var claims = grants.claims
        let seconds = Int(now.timeIntervalSince1970)
        claims["iss"] = key
        claims["nbf"] = seconds
        claims["exp"] = seconds + Int(lifetime.components.seconds)
        let header = Self.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        let payload = Self.encode([UInt8](try JSONSerialization.data(withJSONObject: claims, options: .sortedKeys)))
        return "\(header).\(payload).\(Self.encode(sign("\(header).\(payload)")))"
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private func sign(_ text: String) -> [UInt8] {
        let (keyBytes, message) = (Array(secret.utf8), Array(text.utf8))
        let hmac = g_hmac_new(G_CHECKSUM_SHA256, keyBytes, gsize(keyBytes.count))
        defer { g_hmac_unref(hmac) }
        message.withUnsafeBufferPointer { g_hmac_update(hmac, $0.baseAddress, gssize($0.count)) }
        var digest = [UInt8](repeating: 0, count: 32)
        var length = gsize(digest.count)
        g_hmac_get_digest(hmac, &digest, &length)
        return digest
    }
}

extension JoinGrants {
    /// The claims of a token; what is not of the right type counts as absent.
    init(claims: [String: Any]) {
        identity = claims["sub"] as? String ?? claims["jti"] as? String ?? ""
        name = claims["name"] as? String ?? ""
        kind = Self.kinds.first { $0.0 == claims["kind"] as? String }?.1 ?? .standard
        metadata = claims["metadata"] as? String ?? ""
        attributes = claims["attributes"] as? [String: String] ?? [:]
        if let video = claims["video"] as? [String: Any] {
            hasVideo = true
            roomJoin = video["roomJoin"] as? Bool ?? false
            room = video["room"] as? String ?? ""
            canPublish = video["canPublish"] as? Bool ?? true
            canSubscribe = video["canSubscribe"] as? Bool ?? true
            canPublishData = video["canPublishData"] as? Bool ?? canPublish
            let sources = video["canPublishSources"] as? [String] ?? []
            canPublishSources = sources.compactMap { name in Self.sources.first { $0.0 == name }?.1 }
            canUpdateOwnMetadata = video["canUpdateOwnMetadata"] as? Bool ?? false
            hidden = video["hidden"] as? Bool ?? false
            agent = video["agent"] as? Bool ?? false
        }
        let config = claims["roomConfig"] as? [String: Any]
        dispatches = (config?["agents"] as? [[String: Any]] ?? []).prefix(16).map { agent in
            AgentDispatch(
                name: agent["agentName"] as? String ?? agent["agent_name"] as? String ?? "",
                metadata: agent["metadata"] as? String ?? "")
        }
    }

    /// The claims but issuer and times.
    var claims: [String: Any] {
        var video: [String: Any] = [
            "roomJoin": roomJoin, "room": room, "canPublish": canPublish, "canSubscribe": canSubscribe,
            "canPublishData": canPublishData,
        ]
        if !canPublishSources.isEmpty {
            video["canPublishSources"] = canPublishSources.compactMap { source in
                Self.sources.first { $0.1 == source }?.0
            }
        }
        if canUpdateOwnMetadata { video["canUpdateOwnMetadata"] = true }
        if hidden { video["hidden"] = true }
        if agent { video["agent"] = true }
        var claims: [String: Any] = ["sub": identity, "video": video]
        if !name.isEmpty { claims["name"] = name }
        if kind != .standard { claims["kind"] = Self.kinds.first { $0.1 == kind }?.0 }
        if !metadata.isEmpty { claims["metadata"] = metadata }
        if !attributes.isEmpty { claims["attributes"] = attributes }
        if !dispatches.isEmpty {
            claims["roomConfig"] = ["agents": dispatches.map { ["agentName": $0.name, "metadata": $0.metadata] }]
        }
        return claims
    }

    private static let kinds: [(String, ParticipantInfo.Kind)] = [
        ("standard", .standard), ("ingress", .ingress), ("egress", .egress), ("sip", .sip), ("agent", .agent),
        ("connector", .connector), ("bridge", .bridge),
    ]
    private static let sources: [(String, TrackSource)] = [
        ("camera", .camera), ("microphone", .microphone), ("screen_share", .screenShare),
        ("screen_share_audio", .screenShareAudio),
    ]
}
