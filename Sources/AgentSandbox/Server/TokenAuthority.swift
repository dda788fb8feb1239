import AgentCore
import Foundation
import LiveKitProtocol

/// Mints and checks the server's tokens (JWT, HS256).
struct TokenAuthority: Sendable {
    let key: String
    private let secret: String
    private let lifetime: Duration
    /// Seconds by which clocks may differ.
    private static let leeway: TimeInterval = 60

    init(key: String, secret: String, lifetime: Duration) {
        self.key = key
        self.secret = secret
        self.lifetime = lifetime
    }

    /// What a token allows.
    /// - Throws: ``SignalRefusal/invalidToken`` for a wrong signature, another issuer, or one that is not valid now.
    func verify(_ token: String, now: Date = Date()) throws(SignalRefusal) -> JoinGrants {
        guard let decoded = JSONWebToken(decoding: token), JSONWebToken.isSigned(token, with: secret),
            decoded.issuer == key, let expiry = decoded.expiry, now < expiry + Self.leeway,
            now + Self.leeway >= decoded.notBefore ?? .distantPast,
            let claims = try? JSONSerialization.jsonObject(with: Data(decoded.payload.utf8)) as? [String: Any]
        else { throw .invalidToken }
        return JoinGrants(claims: claims)
    }

    /// - Throws: when the grants cannot be written as JSON.
    func mint(_ grants: JoinGrants, now: Date = Date()) throws -> String {
        var claims = grants.claims
        let seconds = Int(now.timeIntervalSince1970)
        claims["iss"] = key
        claims["nbf"] = seconds
        claims["exp"] = seconds + Int(lifetime.components.seconds)
        let payload = try JSONSerialization.data(withJSONObject: claims, options: .sortedKeys)
        return JSONWebToken.sign(payload: String(decoding: payload, as: UTF8.self), secret: secret)
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
