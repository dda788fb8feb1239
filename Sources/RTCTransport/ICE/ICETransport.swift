import LoopCore

/// One ICE session of one component (RFC 8445), confined to the loop.
final class ICETransport {
    private let loop: EventLoop

    /// A local candidate was found: its line without `a=`.
    var onCandidate: ((String) -> Void)?
    var onGatheringComplete: (() -> Void)?
    var onStateChanged: ((ICEState) -> Void)?
    /// A packet of the peer. The bytes are valid during the call only.
    var onReceive: ((UnsafeRawBufferPointer) -> Void)?

    private(set) var state = ICEState.new
    private(set) var localCredentials: (ufrag: String, pwd: String) = ("", "")
    var selectedPair: ICECandidatePair? { nil }

    init(loop: EventLoop, configuration: ICEConfiguration, controlling: Bool) {
        self.loop = loop
    }

    /// Replaces the servers; counts from the next ``startGathering()`` or ``restart()``.
    func setServers(_ servers: [ICEServer]) {}
    func startGathering() {}
    func setRemote(ufrag: String, pwd: String) {}
    func addRemote(candidate: String) {}
    func endOfRemoteCandidates() {}
    /// Starts anew with other credentials; the connection so far carries data until the new one is up.
    /// ``startGathering()``, ``setRemote(ufrag:pwd:)`` and the candidates have to follow.
    func restart() {}
    @discardableResult
    func send(_ packet: UnsafeRawBufferPointer) -> Bool { false }
    func close() {}
}
