import LoopCore

/// A DTLS 1.2 association (RFC 6347) that keys SRTP (RFC 5764), confined to the loop.
final class DTLSTransport {
    /// A datagram to send.
    var onSend: (([UInt8]) -> Void)?
    var onStateChanged: ((DTLSState) -> Void)?
    var onApplicationData: (([UInt8]) -> Void)?

    private(set) var state = DTLSState.new
    let role: DTLSRole
    /// The keys for SRTP; nil until connected, or when no SRTP profile was agreed.
    private(set) var keying: SRTPKeyingMaterial?

    init(
        loop: EventLoop, certificate: DTLSCertificate, role: DTLSRole, remoteFingerprints: [DTLSFingerprint],
        srtpProfiles: [SRTPProfile] = SRTPProfile.preferred
    ) {
        self.role = role
    }

    func start() {}
    func receive(_ datagram: UnsafeRawBufferPointer) {}
    func send(applicationData: [UInt8]) {}
    func close() {}
}
