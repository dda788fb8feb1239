/// An SRTP protection profile of the `use_srtp` extension (RFC 5764, RFC 7714).
public enum SRTPProfile: UInt16, Sendable, CaseIterable {
    /// With an authentication tag of 80 bits.
    case aes128CMHMACSHA1 = 0x0001
    case aeadAES128GCM = 0x0007
    case aeadAES256GCM = 0x0008

    /// What is offered, most preferred first.
    public static let preferred: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1, .aeadAES256GCM]

    /// The length of the master key in bytes.
    var keyLength: Int { self == .aeadAES256GCM ? 32 : 16 }
    /// The length of the master salt in bytes.
    var saltLength: Int { self == .aes128CMHMACSHA1 ? 14 : 12 }
    /// How many bytes protection adds to an RTP packet.
    var tagLength: Int { self == .aes128CMHMACSHA1 ? 10 : 16 }
}

/// The keys of both directions, seen from one end.
struct SRTPKeyingMaterial: Sendable {
    var profile: SRTPProfile
    /// Master key and salt, one after the other, of what this end sends.
    var local: [UInt8]
    /// Master key and salt, one after the other, of what the peer sends.
    var remote: [UInt8]
}

extension SRTPKeyingMaterial {
    /// - Parameter exported: what DTLS exports (RFC 5764, section 4.2): client key, server key, client salt, server
    ///   salt.
    /// - Returns: nil when the length is not the profile's.
    init?(exported: [UInt8], profile: SRTPProfile, role: DTLSRole) {
        let key = profile.keyLength
        let salt = profile.saltLength
        guard exported.count == 2 * (key + salt) else { return nil }
        let client = Array(exported[..<key] + exported[(2 * key)..<(2 * key + salt)])
        let server = Array(exported[key..<(2 * key)] + exported[(2 * key + salt)...])
        self.init(
            profile: profile, local: role == .client ? client : server, remote: role == .client ? server : client)
    }
}
