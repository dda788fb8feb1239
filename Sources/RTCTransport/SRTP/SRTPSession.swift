import CSRTP

/// Protects and unprotects RTP and RTCP (RFC 3711, AES-GCM: RFC 7714). Confined to the loop.
///
/// Every synchronisation source has replay protection of its own. What one end sends may be sent again under the same
/// sequence number, as an answer to a NACK.
final class SRTPSession {
    /// Packets that may arrive late, by sequence number.
    static let replayWindow = 1024
    /// Synchronisation sources of the peer and of this end; each has state in libsrtp.
    static let maxSources = 256
    /// The largest packet in bytes, protection included.
    static let maxPacketSize = 2048

    struct Statistics: Sendable, Equatable {
        var authenticationFailures = 0
        var replays = 0
        var otherFailures = 0
    }
    private(set) var statistics = Statistics()

    private let profile: SRTPProfile
    private let outbound: srtp_t
    private let inbound: srtp_t
    private var outboundSources: Set<UInt32> = []
    private var inboundSources: Set<UInt32> = []

    init(keying: SRTPKeyingMaterial) throws(SRTPError) {
        guard Self.libraryStatus == srtp_err_status_ok else { throw .library(Self.libraryStatus.rawValue) }
        profile = keying.profile
        outbound = try Self.make(keying.profile, key: keying.local, direction: ssrc_any_outbound)
        do {
            inbound = try Self.make(keying.profile, key: keying.remote, direction: ssrc_any_inbound)
        } catch {
            srtp_dealloc(outbound)
            throw error
        }
    }

    /// - Parameter keying: what DTLS exports (RFC 5764, section 4.2): client key, server key, client salt, server salt.
    convenience init(keying: [UInt8], profile: SRTPProfile, role: DTLSRole) throws(SRTPError) {
        guard let keying = SRTPKeyingMaterial(exported: keying, profile: profile, role: role) else { throw .malformed }
        try self.init(keying: keying)
    }

    deinit {
        srtp_dealloc(outbound)
        srtp_dealloc(inbound)
    }

    // MARK: Packets

    /// Turns an RTP packet into an SRTP packet.
    func protect(rtp packet: inout [UInt8]) throws(SRTPError) {
        try protect(&packet, isRTCP: false)
    }

    /// Turns an RTCP packet into an SRTCP packet.
    func protect(rtcp packet: inout [UInt8]) throws(SRTPError) {
        try protect(&packet, isRTCP: true)
    }

    /// Turns an SRTP packet of the peer into an RTP packet; its contents are undefined after an error.
    func unprotect(srtp packet: inout [UInt8]) throws(SRTPError) {
        try unprotect(&packet, isRTCP: false)
    }

    /// Turns an SRTCP packet of the peer into an RTCP packet; its contents are undefined after an error.
    func unprotect(srtcp packet: inout [UInt8]) throws(SRTPError) {
        try unprotect(&packet, isRTCP: true)
    }

    private func protect(_ packet: inout [UInt8], isRTCP: Bool) throws(SRTPError) {
        // SRTCP carries its index beside the tag.
        let room = profile.tagLength + (isRTCP ? 4 : 0)
        guard packet.count + room <= Self.maxPacketSize, let source = Self.source(of: packet, isRTCP: isRTCP) else {
            throw count(.malformed)
        }
        guard outboundSources.contains(source) || outboundSources.count < Self.maxSources else {
            throw count(.tooManySources)
        }
        var length = Int32(packet.count)
        packet.append(contentsOf: repeatElement(0, count: room))
        let status = packet.withUnsafeMutableBytes {
            isRTCP
                ? srtp_protect_rtcp(outbound, $0.baseAddress, &length) : srtp_protect(outbound, $0.baseAddress, &length)
        }
        guard status == srtp_err_status_ok else {
            packet.removeLast(room)
            throw count(Self.error(status))
        }
        outboundSources.insert(source)
        packet.removeLast(packet.count - Int(length))
    }

    private func unprotect(_ packet: inout [UInt8], isRTCP: Bool) throws(SRTPError) {
        let overhead = profile.tagLength + (isRTCP ? 4 : 0)
        guard packet.count <= Self.maxPacketSize, packet.count >= (isRTCP ? 8 : 12) + overhead,
            let source = Self.source(of: packet, isRTCP: isRTCP)
        else { throw count(.malformed) }
        guard inboundSources.contains(source) || inboundSources.count < Self.maxSources else {
            throw count(.tooManySources)
        }
        var length = Int32(packet.count)
        let status = packet.withUnsafeMutableBytes {
            isRTCP
                ? srtp_unprotect_rtcp(inbound, $0.baseAddress, &length)
                : srtp_unprotect(inbound, $0.baseAddress, &length)
        }
        guard status == srtp_err_status_ok else { throw count(Self.error(status)) }
        inboundSources.insert(source)
        packet.removeLast(packet.count - Int(length))
    }

    /// The source of a packet whose headers are within its bounds; nil for anything else.
    private static func source(of packet: [UInt8], isRTCP: Bool) -> UInt32? {
        let offset = isRTCP ? 4 : 8
        guard packet.count >= offset + 4, packet[0] >> 6 == 2 else { return nil }
        if !isRTCP {
            var header = 12 + 4 * Int(packet[0] & 0x0f)
            if packet[0] & 0x10 != 0 {
                guard packet.count >= header + 4 else { return nil }
                header += 4 + 4 * (Int(packet[header + 2]) << 8 | Int(packet[header + 3]))
            }
            guard packet.count >= header else { return nil }
        }
        return packet[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func count(_ error: SRTPError) -> SRTPError {
        switch error {
        case .authenticationFailed: statistics.authenticationFailures += 1
        case .replayed: statistics.replays += 1
        default: statistics.otherFailures += 1
        }
        return error
    }

    private static func error(_ status: srtp_err_status_t) -> SRTPError {
        switch status {
        case srtp_err_status_auth_fail: .authenticationFailed
        case srtp_err_status_replay_fail, srtp_err_status_replay_old: .replayed
        case srtp_err_status_bad_param, srtp_err_status_parse_err: .malformed
        default: .library(status.rawValue)
        }
    }

    // MARK: Set-up

    /// Initialises libsrtp once in the process.
    private static let libraryStatus: srtp_err_status_t = srtp_init()

    private static func make(
        _ profile: SRTPProfile, key: [UInt8], direction: srtp_ssrc_type_t
    ) throws(SRTPError) -> srtp_t {
        guard key.count == profile.keyLength + profile.saltLength else { throw .malformed }
        var policy = srtp_policy_t()
        switch profile {
        case .aes128CMHMACSHA1:
            srtp_crypto_policy_set_rtp_default(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        case .aeadAES128GCM:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        case .aeadAES256GCM:
            srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp)
        }
        policy.ssrc = srtp_ssrc_t(type: direction, value: 0)
        policy.window_size = UInt(replayWindow)
        policy.allow_repeat_tx = 1
        var key = key
        var session: srtp_t?
        // libsrtp copies the key and keeps nothing of the policy.
        let status = key.withUnsafeMutableBufferPointer { bytes in
            policy.key = bytes.baseAddress
            return srtp_create(&session, &policy)
        }
        guard status == srtp_err_status_ok, let session else { throw .library(status.rawValue) }
        return session
    }
}
