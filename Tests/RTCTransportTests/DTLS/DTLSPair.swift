import LoopCore

@testable import RTCTransport

/// Two DTLS transports on one loop, joined by pipes.
actor DTLSPair {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private(set) var states: [[DTLSState]] = [[], []]
    private(set) var received: [[[UInt8]]] = [[], []]
    private(set) var largestDatagram = 0
    private var transports: [DTLSTransport] = []
    private var pipes: [Pipe] = []

    init(loop: EventLoop) { self.loop = loop }

    /// - Parameter announced: the fingerprints each end expects of the other; by default the right ones.
    func make(
        roles: (DTLSRole, DTLSRole) = (.client, .server), announced: [[DTLSFingerprint]?] = [nil, nil],
        profiles: [[SRTPProfile]] = [SRTPProfile.preferred, SRTPProfile.preferred],
        impair: @Sendable (Pipe) -> Void = { _ in }, seed: UInt64 = 1
    ) throws {
        let certificates = [try DTLSCertificate.generate(), try DTLSCertificate.generate()]
        pipes = [Pipe(loop: loop, seed: seed), Pipe(loop: loop, seed: seed &+ 100)]
        for index in 0..<2 {
            let fingerprints =
                announced[index] ?? [
                    DTLSFingerprint(algorithm: "SHA-256", value: certificates[1 - index].fingerprint.lowercased())
                ]
            let transport = DTLSTransport(
                loop: loop, certificate: certificates[index], role: index == 0 ? roles.0 : roles.1,
                remoteFingerprints: fingerprints, srtpProfiles: profiles[index])
            transports.append(transport)
            impair(pipes[index])
        }
        for index in 0..<2 {
            let transport = transports[index]
            let pipe = pipes[index]
            transport.onSend = { [self] datagram in
                largestDatagram = max(largestDatagram, datagram.count)
                pipe.send(datagram)
            }
            transport.onStateChanged = { [self] in states[index].append($0) }
            transport.onApplicationData = { [self] in received[index].append($0) }
            pipes[1 - index].onDeliver = { datagram in datagram.withUnsafeBytes { transport.receive($0) } }
        }
    }

    func start() { for transport in transports { transport.start() } }
    func start(_ index: Int) { transports[index].start() }
    func inject(_ bytes: [UInt8], to index: Int) { bytes.withUnsafeBytes { transports[index].receive($0) } }
    func send(_ bytes: [UInt8], from index: Int) { transports[index].send(applicationData: bytes) }
    func close(_ index: Int) { transports[index].close() }
    func state(_ index: Int) -> DTLSState { transports[index].state }
    func keying(_ index: Int) -> SRTPKeyingMaterial? { transports[index].keying }
    var bothConnected: Bool { transports.allSatisfy { $0.state == .connected } }
    var isDecided: Bool { bothConnected || bothFailed }
    var bothFailed: Bool {
        transports.allSatisfy { if case .failed = $0.state { true } else { false } }
    }

    func end() {
        for transport in transports { transport.close() }
        transports = []
    }
}
