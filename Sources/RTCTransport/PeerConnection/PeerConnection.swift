public import LoopCore

/// A WebRTC peer connection for audio and data (RFC 8825, RFC 8829): one bundled transport of ICE and DTLS with SRTP
/// and SCTP over it. Confined to the loop.
public final class PeerConnection {
    public var onEvent: ((Event) -> Void)?
    public private(set) var transceivers: [Transceiver] = []
    public private(set) var connectionState = PeerConnectionState.new
    public private(set) var timings = PeerConnectionTimings()
    public private(set) var localDescription: SessionDescription?
    public private(set) var remoteDescription: SessionDescription?

    private let loop: EventLoop
    private let configuration: Configuration
    private let certificate: DTLSCertificate
    let cname: String
    var negotiator: Negotiator
    private var pendingOffer: SDPMessage?

    var ice: ICETransport?
    private var dtls: DTLSTransport?
    var srtp: SRTPSession?
    private var sctp: SCTPAssociation?
    private var role: DTLSRole?
    private var remoteUfrag: String?
    private var earlyCandidates: [ICECandidate] = []
    private var localCandidates: [String] = []
    private var isGathering = false
    private var rtcpTimer: LoopTimer?
    var rtcpTicks = 0
    private var router = StreamRouter()
    private var transportSequence: UInt16 = 0
    var feedback = TransportFeedbackCollector()
    var tally = TransportFeedbackTally()
    var counters = PeerConnectionStatistics()

    /// Candidates kept until the remote description is there.
    private static let maximumEarlyCandidates = 256

    /// - Parameter certificate: shared between connections, or nil for one of its own.
    /// - Throws: ``DTLSError`` when no certificate can be made.
    public init(
        loop: EventLoop, configuration: Configuration = Configuration(), certificate: DTLSCertificate? = nil
    ) throws(DTLSError) {
        loop.checkIsolated()
        self.loop = loop
        self.configuration = configuration
        if let certificate {
            self.certificate = certificate
        } else {
            self.certificate = try DTLSCertificate.generate()
        }
        cname = String(UInt64.random(in: 0 ... .max), radix: 36)
        negotiator = Negotiator(cname: cname)
        negotiator.allowsRED = configuration.allowsRED
    }

    // MARK: Sections and channels

    /// Adds a media section; it counts from the next offer.
    public func addTransceiver(
        kind: MediaKind, direction: MediaDirection, msid: MediaStreamID? = nil
    ) -> Transceiver {
        let ssrc = UInt32.random(in: 1 ... .max)
        let index = negotiator.addMedia(kind, direction: direction, msid: msid, ssrc: ssrc)
        return makeTransceiver(kind, index: index, ssrc: ssrc)
    }

    private func makeTransceiver(_ kind: MediaKind, index: Int, ssrc: UInt32) -> Transceiver {
        let transceiver = Transceiver(kind: kind, index: index, ssrc: ssrc, connection: self)
        transceivers.append(transceiver)
        return transceiver
    }

    /// Creates a channel; it opens once the association is up. The first one adds the application section.
    public func createDataChannel(
        label: String, ordered: Bool = true, maxRetransmits: UInt16? = nil, negotiatedID: UInt16? = nil
    ) -> DataChannel {
        negotiator.addApplication()
        return association().createDataChannel(
            label: label, ordered: ordered, maxRetransmits: maxRetransmits, negotiatedID: negotiatedID)
    }

    private func association() -> SCTPAssociation {
        if let sctp { return sctp }
        var settings = SCTPAssociation.Configuration()
        settings.maxMessageSize = configuration.maxMessageSize
        let association = SCTPAssociation(loop: loop, configuration: settings)
        association.onSend = { [weak self] in self?.dtls?.send(applicationData: $0) }
        association.onDataChannel = { [weak self] in self?.onEvent?(.dataChannel($0)) }
        association.onStateChanged = { [weak self] state in
            if case .failed(let reason) = state { self?.setState(.failed, reason: "SCTP: \(reason)") }
        }
        sctp = association
        return association
    }

    // MARK: Negotiation

    /// Makes an offer of the sections as they are.
    /// - Parameter iceRestart: with new ICE credentials.
    /// - Throws: ``NegotiationError``.
    public func createOffer(iceRestart: Bool = false) throws(NegotiationError) -> SessionDescription {
        let transport = transport(controlling: true)
        if iceRestart, remoteDescription != nil {
            localCandidates = []
            isGathering = false
            remoteUfrag = nil
            transport.restart()
        }
        let message = try negotiator.createOffer(localTransport(transport))
        return SessionDescription(kind: .offer, sdp: message.text)
    }

    /// Makes the answer to the offer that was applied last.
    /// - Throws: ``NegotiationError``.
    public func createAnswer() throws(NegotiationError) -> SessionDescription {
        let message = try negotiator.createAnswer(localTransport(transport(controlling: false)))
        return SessionDescription(kind: .answer, sdp: message.text)
    }

    /// Applies a description that this connection made, and starts gathering unless that is deferred.
    /// - Throws: ``NegotiationError``.
    public func setLocalDescription(_ description: SessionDescription) throws(NegotiationError) {
        let message = try Self.parse(description)
        if description.kind == .answer, role == nil {
            role = message.transport?.setup == "passive" ? .server : .client
        }
        try negotiator.setLocal(description.kind, message)
        localDescription = description
        pendingOffer = description.kind == .offer ? message : nil
        if description.kind == .answer || !configuration.defersGathering || remoteDescription != nil {
            startGathering()
        }
        if description.kind == .answer { negotiated() }
    }

    /// Applies the peer's description. New sections of an offer become transceivers.
    /// - Throws: ``NegotiationError``; the connection stays as it was.
    public func setRemoteDescription(_ description: SessionDescription) throws(NegotiationError) {
        let message = try Self.parse(description)
        guard let remoteTransport = message.transport, !remoteTransport.fingerprints.isEmpty else {
            throw .missingTransport
        }
        let (added, _) = try negotiator.setRemote(description.kind, message, localOffer: pendingOffer)
        remoteDescription = description
        // RFC 8445 section 6.1.1: the offerer controls, unless the other end is a lite agent.
        let ice = transport(controlling: description.kind == .answer || remoteTransport.isICELite)
        for index in added {
            guard case .media(let kind) = negotiator.sections[index].media else { continue }
            let transceiver = makeTransceiver(kind, index: index, ssrc: negotiator.sections[index].ssrc)
            onEvent?(.transceiverChanged(transceiver))
        }
        if description.kind == .answer {
            pendingOffer = nil
            if role == nil { role = remoteTransport.setup == "active" ? .server : .client }
        }
        apply(remoteTransport, to: ice)
        if let section = message.sections.first(where: { $0.media == "application" && $0.port != 0 }) {
            association().configuration.remoteMaxMessageSize = section.maxMessageSize
        }
        if description.kind == .answer {
            startGathering()
            negotiated()
        }
    }

    private static func parse(_ description: SessionDescription) throws(NegotiationError) -> SDPMessage {
        do {
            return try SDPMessage(parsing: description.sdp)
        } catch {
            throw .malformed(error)
        }
    }

    private func localTransport(_ ice: ICETransport) -> Negotiator.LocalTransport {
        Negotiator.LocalTransport(
            iceUfrag: ice.localCredentials.ufrag, icePwd: ice.localCredentials.pwd,
            fingerprint: certificate.fingerprint, role: role, candidates: localCandidates,
            maxMessageSize: configuration.maxMessageSize)
    }

    private func apply(_ remote: SDPTransport, to ice: ICETransport) {
        if let remoteUfrag, remoteUfrag != remote.iceUfrag, pendingOffer == nil, negotiator.state == .haveRemoteOffer {
            // RFC 8839 section 4.4.1.1.1: new credentials in an offer restart ICE.
            localCandidates = []
            isGathering = false
            ice.restart()
        }
        remoteUfrag = remote.iceUfrag
        ice.setRemote(ufrag: remote.iceUfrag, pwd: remote.icePwd)
        for candidate in remote.candidates { ice.addRemote(candidate: candidate) }
        for candidate in earlyCandidates { pass(candidate, to: ice) }
        earlyCandidates = []
        if remote.endOfCandidates { ice.endOfRemoteCandidates() }
        startDTLS(with: remote.fingerprints)
    }

    /// A description pair is in force.
    private func negotiated() {
        for transceiver in transceivers { onEvent?(.transceiverChanged(transceiver)) }
        router.update(negotiator.sections)
        startDTLS(with: nil)
        if connectionState == .new { setState(.connecting) }
    }

    // MARK: ICE

    /// Adds a candidate of the peer. Kept until the remote description is there; any mid is accepted, since there is
    /// one transport.
    public func add(_ candidate: ICECandidate) {
        guard let ice, remoteDescription != nil else {
            if earlyCandidates.count < Self.maximumEarlyCandidates { earlyCandidates.append(candidate) }
            return
        }
        pass(candidate, to: ice)
    }

    private func pass(_ candidate: ICECandidate, to ice: ICETransport) {
        if candidate.isEndOfCandidates {
            ice.endOfRemoteCandidates()
        } else {
            ice.addRemote(candidate: candidate.candidate)
        }
    }

    /// Replaces the STUN and TURN servers; counts for gathering that has not begun, and from the next restart.
    public func setICEServers(_ servers: [ICEServer]) {
        transport(controlling: true).setServers(servers)
    }

    /// Uses relayed candidates only, as `iceTransportPolicy: "relay"` of WebRTC; counts for gathering that has not
    /// begun, and from the next restart.
    public func requireRelay() {
        transport(controlling: true).requireRelay()
    }

    /// Starts gathering candidates, once.
    public func startGathering() {
        guard let ice, !isGathering, connectionState != .closed else { return }
        isGathering = true
        ice.startGathering()
    }

    private func transport(controlling: Bool) -> ICETransport {
        if let ice { return ice }
        var settings = ICEConfiguration()
        settings.servers = configuration.iceServers
        settings.relayOnly = configuration.relayOnly
        settings.enableTCP = configuration.enableTCP
        settings.loopbackOnly = configuration.loopbackOnly
        settings.includeLoopback = configuration.includeLoopback
        let transport = ICETransport(loop: loop, configuration: settings, controlling: controlling)
        transport.onCandidate = { [weak self] in self?.found($0) }
        transport.onGatheringComplete = { [weak self] in self?.onEvent?(.iceGatheringComplete) }
        transport.onStateChanged = { [weak self] in self?.iceChanged($0) }
        transport.onReceive = { [weak self] in self?.receive($0) }
        ice = transport
        return transport
    }

    private func found(_ candidate: String) {
        localCandidates.append(candidate)
        // RFC 9143: with one transport all candidates belong to the first section.
        let mid = negotiator.sections.first?.mid
        onEvent?(.iceCandidate(ICECandidate(candidate: candidate, sdpMid: mid, sdpMLineIndex: 0)))
    }

    private func iceChanged(_ state: ICEState) {
        onEvent?(.iceStateChanged(state))
        switch state {
        case .connected, .completed:
            timings.iceConnected = timings.iceConnected ?? .now
            startDTLS(with: nil)
            if dtls?.state == .connected { setState(.connected) }
        case .disconnected: setState(.disconnected, reason: "ICE: no answer to consent checks")
        case .failed: setState(.failed, reason: "ICE: no pair of candidates works")
        case .new, .checking, .closed: break
        }
    }

    // MARK: DTLS

    /// Starts the handshake once ICE is up, the role is known and the peer's fingerprints are.
    private func startDTLS(with fingerprints: [DTLSFingerprint]?) {
        if let fingerprints { remoteFingerprints = fingerprints }
        guard dtls == nil, let role, let ice, !remoteFingerprints.isEmpty, connectionState != .closed else { return }
        guard role == .server || ice.state.isConnected else { return }
        let transport = DTLSTransport(
            loop: loop, certificate: certificate, role: role, remoteFingerprints: remoteFingerprints,
            srtpProfiles: configuration.srtpProfiles)
        transport.onSend = { [weak self] datagram in
            _ = datagram.withUnsafeBytes { self?.ice?.send($0) }
        }
        transport.onStateChanged = { [weak self] in self?.dtlsChanged($0) }
        transport.onApplicationData = { [weak self] in self?.sctp?.receive($0) }
        dtls = transport
        transport.start()
    }

    private var remoteFingerprints: [DTLSFingerprint] = []

    private func dtlsChanged(_ state: DTLSState) {
        switch state {
        case .connected: dtlsConnected()
        case .failed(let reason): setState(.failed, reason: "DTLS: \(reason)")
        // RFC 8842: a closed association is the end of the connection; signaling tells why.
        case .closed: setState(.disconnected, reason: "DTLS: closed by the peer")
        case .new, .connecting: break
        }
        if connectionState != .closed { onEvent?(.dtlsStateChanged(state)) }
    }

    private func dtlsConnected() {
        guard let dtls, let role else { return }
        timings.dtlsConnected = .now
        if let keying = dtls.keying {
            do {
                srtp = try SRTPSession(keying: keying)
            } catch {
                setState(.failed, reason: "SRTP: \(error)")
                return
            }
        }
        if negotiator.hasApplication { association().start(role: role) }
        rtcpTimer = loop.schedule(every: .milliseconds(100), startingAt: .now + .milliseconds(100)) { [weak self] in
            self?.sendReports()
        }
        setState(.connected)
    }

    private func setState(_ state: PeerConnectionState, reason: String? = nil) {
        guard connectionState != state, connectionState != .closed else { return }
        // A failed connection recovers only by a restart, which starts with a new negotiation.
        connectionState = state
        onEvent?(.connectionStateChanged(state, reason: reason))
    }

    // MARK: Packets

    /// Whether media can be sent.
    public var isMediaReady: Bool { srtp != nil && connectionState != .closed }

    func takeTransportSequence() -> UInt16 {
        defer { transportSequence &+= 1 }
        return transportSequence
    }

    @discardableResult
    func send(_ packet: RTPPacket) -> Bool {
        guard let srtp, let ice else { return false }
        var bytes = packet.serialized()
        do {
            try srtp.protect(rtp: &bytes)
        } catch {
            counters.discardedPackets += 1
            return false
        }
        timings.firstPacketSent = timings.firstPacketSent ?? .now
        return bytes.withUnsafeBytes { ice.send($0) }
    }

    /// RFC 7983: the first byte tells the protocols apart; STUN stays with ICE.
    private func receive(_ datagram: UnsafeRawBufferPointer) {
        guard let first = datagram.first else { return }
        switch first {
        case 20...63:
            dtls?.receive(datagram)
        case 128...191 where datagram.count >= 8:
            // RFC 5761 section 4: RTCP packet types lie where RTP has no payload types.
            let isRTCP = (64...95).contains(datagram[1] & 0x7f)
            if isRTCP { receive(rtcp: [UInt8](datagram)) } else { receive(rtp: [UInt8](datagram)) }
        default:
            counters.discardedPackets += 1
        }
    }

    private func receive(rtp bytes: [UInt8]) {
        var bytes = bytes
        guard let srtp, (try? srtp.unprotect(srtp: &bytes)) != nil, let packet = try? RTPPacket(parsing: bytes) else {
            counters.discardedPackets += 1
            return
        }
        let now = MonotonicTime.now
        timings.firstPacketReceived = timings.firstPacketReceived ?? now
        guard let section = router.section(of: packet),
            let transceiver = transceivers.first(where: { $0.index == section })
        else {
            counters.unroutedPackets += 1
            return
        }
        let audio = transceiver.audio
        if let id = audio?.transportSequenceExtension, let data = packet.headerExtension(id), data.count == 2 {
            feedback.received(data.uint16(at: 0), at: now)
        }
        if transceiver.receive?.ssrc != packet.ssrc { transceiver.receive = ReceiveStream(ssrc: packet.ssrc) }
        // RED repeats what is lost; asking again would only add to it.
        let wantsNACK = audio?.nack == true && packet.payloadType != audio?.redPayloadType
        guard transceiver.receive?.receive(packet, now: now, wantsNACK: wantsNACK) == true else { return }
        if let nacks = transceiver.receive?.nacks(now: now), !nacks.isEmpty {
            send(rtcp: [.nack(sender: transceiver.ssrc, media: packet.ssrc, sequenceNumbers: nacks)])
        }
        transceiver.deliver(packet, now: now)
    }

    // MARK: State

    /// The candidates in use.
    public var selectedCandidatePair: ICECandidatePair? { ice?.selectedPair }

    public var statistics: PeerConnectionStatistics {
        var result = counters
        result.feedbackReported = tally.reported
        result.feedbackLost = tally.lost
        result.candidatePair = selectedCandidatePair
        return result
    }

    /// Closes everything; no event comes afterwards. Harmless when repeated.
    public func close() {
        guard connectionState != .closed else { return }
        connectionState = .closed
        onEvent = nil
        rtcpTimer = nil
        sctp?.close()
        dtls?.close()
        ice?.close()
        for transceiver in transceivers {
            transceiver.onFrame = nil
            transceiver.onPacket = nil
        }
        srtp = nil
    }
}
