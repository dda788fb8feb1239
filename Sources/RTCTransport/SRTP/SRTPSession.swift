/// Protects and unprotects RTP and RTCP (RFC 3711), with replay protection. Confined to the loop.
final class SRTPSession {
    struct Statistics: Sendable {
        var authenticationFailures = 0
        var replays = 0
        var otherFailures = 0
    }
    private(set) var statistics = Statistics()

    init(keying: SRTPKeyingMaterial) throws(SRTPError) {}

    func protect(rtp packet: inout [UInt8]) throws(SRTPError) {}
    func unprotect(srtp packet: inout [UInt8]) throws(SRTPError) {}
    func protect(rtcp packet: inout [UInt8]) throws(SRTPError) {}
    func unprotect(srtcp packet: inout [UInt8]) throws(SRTPError) {}
}
