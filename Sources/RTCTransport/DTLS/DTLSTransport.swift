import COpenSSL
import LoopCore

/// A DTLS 1.2 association (RFC 6347) that keys SRTP (RFC 5764), confined to the loop.
///
/// The certificate of the peer is compared with the announced fingerprints inside the handshake: with any other
/// certificate the handshake fails with an alert on both ends, and there is no keying material.
final class DTLSTransport: DatagramEndpoint {
    /// The largest datagram sent, in bytes: what fits any path with room for TURN and tunnels.
    static let mtu = 1200
    /// How many datagrams that arrive before ``start()`` are kept.
    static let maxEarlyDatagrams = 8

    /// A datagram to send.
    var onSend: (([UInt8]) -> Void)?
    /// Never called from within ``start()``, ``send(applicationData:)`` or ``close()``.
    var onStateChanged: ((DTLSState) -> Void)?
    var onApplicationData: (([UInt8]) -> Void)?

    private(set) var state = DTLSState.new
    let role: DTLSRole
    /// The keys for SRTP; nil until connected, or when no SRTP profile was agreed.
    private(set) var keying: SRTPKeyingMaterial?

    private let loop: EventLoop
    private let certificate: DTLSCertificate
    private let fingerprints: [DTLSFingerprint]
    private let profiles: [SRTPProfile]

    private var context: OpaquePointer?
    private var ssl: OpaquePointer?
    private var retransmission: LoopTimer?
    private var deferred: LoopTimer?
    private var early: [[UInt8]] = []
    /// The datagram that OpenSSL reads next; valid inside ``receive(_:)``.
    private var incoming: UnsafeRawBufferPointer?
    private var verdict = Verdict.notSeen
    private var readBuffer = [UInt8](repeating: 0, count: 1 << 14)
    /// What OpenSSL wrote. It goes out when OpenSSL has returned, so that no callback runs inside of it.
    private var outgoing: [[UInt8]] = []
    private var isClosed = false

    private enum Verdict { case notSeen, matches, differs(String) }

    /// - Parameter remoteFingerprints: what the peer's session description announces; without any, no certificate
    ///   is accepted.
    init(
        loop: EventLoop, certificate: DTLSCertificate, role: DTLSRole, remoteFingerprints: [DTLSFingerprint],
        srtpProfiles: [SRTPProfile] = SRTPProfile.preferred
    ) {
        self.loop = loop
        self.certificate = certificate
        self.role = role
        fingerprints = remoteFingerprints
        profiles = srtpProfiles
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    // MARK: Operations

    /// Begins the handshake, with what has arrived so far. Harmless when repeated.
    func start() {
        guard state == .new, !isClosed, deferred == nil else { return }
        // On the loop's next turn: the handshake may fail, and callbacks do not come from within this call.
        deferred = loop.schedule(after: .zero) { [weak self] in
            guard let self else { return }
            deferred = nil
            begin()
        }
    }

    /// Takes a datagram of the peer; others than DTLS (RFC 7983) and garbage are ignored.
    func receive(_ datagram: UnsafeRawBufferPointer) {
        guard let first = datagram.first, (20...63).contains(first), datagram.count >= 13 else { return }
        switch state {
        case .new:
            guard early.count < Self.maxEarlyDatagrams else { return }
            early.append(Array(datagram))
        case .connecting, .connected:
            process(datagram)
        case .failed, .closed:
            break
        }
    }

    /// Sends one datagram of application data; dropped, as UDP would, when not connected.
    func send(applicationData: [UInt8]) {
        guard state == .connected, let ssl, !isClosed, !applicationData.isEmpty else { return }
        ERR_clear_error()
        _ = SSL_write(ssl, applicationData, Int32(clamping: applicationData.count))
        flush()
    }

    /// Sends close_notify and ends. No callback follows. Harmless when repeated.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if state == .connected, let ssl {
            ERR_clear_error()
            SSL_shutdown(ssl)
            flush()
        }
        state = .closed
        onSend = nil
        onStateChanged = nil
        onApplicationData = nil
        keying = nil
        retransmission = nil
        deferred = nil
        early = []
        SSL_free(ssl)
        SSL_CTX_free(context)
        ssl = nil
        context = nil
    }

    // MARK: Handshake

    private func begin() {
        guard state == .new, !isClosed else { return }
        do {
            try makeSession()
        } catch {
            return fail(error.description)
        }
        setState(.connecting)
        run()
        let waiting = early
        early = []
        for datagram in waiting { datagram.withUnsafeBytes { process($0) } }
    }

    private func makeSession() throws(DTLSError) {
        // Unretained: the context is freed in `deinit` at the latest, and not used afterwards.
        let context = try DTLSContext.make(
            certificate: certificate, profiles: profiles,
            verify: { store, this in
                guard let store, let this else { return 0 }
                return Unmanaged<DTLSTransport>.fromOpaque(this).takeUnretainedValue().verify(store) ? 1 : 0
            }, verifyArgument: Unmanaged.passUnretained(self).toOpaque())
        self.context = context
        guard let ssl = SSL_new(context), let bio = DatagramBIO.make(self) else { throw DTLSError("starting DTLS") }
        self.ssl = ssl
        SSL_set_bio(ssl, bio, bio)
        SSL_ctrl(ssl, DTLSControl.setLinkMTU, Self.mtu, nil)
        // The default of 1 s would make one lost packet the longest part of connecting (RFC 6347, section 4.2.4.1).
        DTLS_set_timer_cb(ssl) { _, microseconds in microseconds == 0 ? 100_000 : min(microseconds * 2, 3_000_000) }
        if role == .client { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    }

    private func verify(_ store: OpaquePointer) -> Bool {
        guard let peer = X509_STORE_CTX_get0_cert(store) else { return false }
        if fingerprints.match(peer) {
            verdict = .matches
            return true
        }
        let actual = DTLSFingerprint(of: peer, algorithm: "sha-256")?.description ?? "unknown"
        verdict = .differs(actual)
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
        return false
    }

    private func process(_ datagram: UnsafeRawBufferPointer) {
        incoming = datagram
        run()
        incoming = nil
    }

    /// Lets OpenSSL do what it can with the incoming datagram, then tells the owner.
    private func run() {
        guard !isClosed, let ssl else { return }
        var failure: String?
        var messages: [[UInt8]] = []
        var didConnect = false
        if SSL_is_init_finished(ssl) == 0 {
            ERR_clear_error()
            let result = SSL_do_handshake(ssl)
            if result != 1 { failure = reason(of: result) }
        }
        if failure == nil, state == .connecting, SSL_is_init_finished(ssl) == 1 {
            failure = finish()
            didConnect = failure == nil
        }
        if failure == nil, SSL_is_init_finished(ssl) == 1 { failure = readAll(ssl, into: &messages) }
        let isEnded = SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0
        armTimer()
        flush()
        if didConnect { setState(.connected) }
        for message in messages where state == .connected { onApplicationData?(message) }
        if let failure {
            fail(failure)
        } else if isEnded {
            end(.closed)
        }
    }

    /// - Returns: why the association failed; nil while it goes on.
    private func readAll(_ ssl: OpaquePointer, into messages: inout [[UInt8]]) -> String? {
        while true {
            ERR_clear_error()
            let count = SSL_read(ssl, &readBuffer, Int32(readBuffer.count))
            guard count > 0 else { return reason(of: count) }
            messages.append(Array(readBuffer[..<Int(count)]))
        }
    }

    private func flush() {
        while !outgoing.isEmpty { onSend?(outgoing.removeFirst()) }
    }

    /// - Returns: nil when OpenSSL only waits for more, or the peer closed.
    private func reason(of result: Int32) -> String? {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_NONE, SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE, SSL_ERROR_ZERO_RETURN: return nil
        default: break
        }
        let detail = DTLSError.drainQueue()
        if case .differs(let actual) = verdict {
            let announced = fingerprints.map(\.description).joined(separator: ", ")
            return "the peer's certificate does not match the fingerprint of its session description "
                + "(announced \(announced.isEmpty ? "none" : announced); presented \(actual))"
        }
        return "DTLS handshake or record refused: \(detail.isEmpty ? "connection broken" : detail)"
    }

    private func finish() -> String? {
        guard case .matches = verdict, let ssl else { return "the peer showed no certificate" }
        if let profile = SSL_get_selected_srtp_profile(ssl) {
            guard let profile = SRTPProfile(rawValue: UInt16(truncatingIfNeeded: profile.pointee.id)),
                let material = exportKeys(ssl, profile)
            else { return "no keys for SRTP could be derived" }
            keying = material
        }
        return nil
    }

    /// RFC 5764, section 4.2: client key, server key, client salt, server salt.
    private func exportKeys(_ ssl: OpaquePointer, _ profile: SRTPProfile) -> SRTPKeyingMaterial? {
        let label = "EXTRACTOR-dtls_srtp"
        var material = [UInt8](repeating: 0, count: 2 * (profile.keyLength + profile.saltLength))
        guard SSL_export_keying_material(ssl, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1
        else { return nil }
        return SRTPKeyingMaterial(exported: material, profile: profile, role: role)
    }

    private func armTimer() {
        retransmission = nil
        guard let ssl, !isClosed else { return }
        var left = timeval()
        guard SSL_ctrl(ssl, DTLSControl.getTimeout, 0, &left) == 1 else { return }
        let delay = Duration.seconds(left.tv_sec) + .microseconds(left.tv_usec)
        retransmission = loop.schedule(after: delay) { [weak self] in self?.timeOut() }
    }

    private func timeOut() {
        retransmission = nil
        guard let ssl, !isClosed else { return }
        ERR_clear_error()
        if SSL_ctrl(ssl, DTLSControl.handleTimeout, 0, nil) < 0 {
            _ = DTLSError.drainQueue()
            return fail("the peer did not answer the DTLS handshake")
        }
        armTimer()
        flush()
    }

    // MARK: Ends

    private func setState(_ new: DTLSState) {
        guard state != new, !isClosed else { return }
        state = new
        onStateChanged?(new)
    }

    private func fail(_ reason: String) {
        end(.failed(reason: reason))
    }

    private func end(_ new: DTLSState) {
        guard !isClosed else { return }
        retransmission = nil
        early = []
        keying = nil
        setState(new)
    }

    // MARK: DatagramEndpoint

    func readDatagram(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let datagram = incoming else { return nil }
        incoming = nil
        let count = min(datagram.count, buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: datagram[..<count]))
        return count
    }

    func writeDatagram(_ datagram: UnsafeRawBufferPointer) {
        outgoing.append(Array(datagram))
    }
}
