import LoopCore

@testable import RTCTransport

/// Two ICE transports on one loop that trickle to each other.
actor ICEPair {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private(set) var states: [[ICEState]] = [[], []]
    private(set) var received: [[[UInt8]]] = [[], []]
    private(set) var candidates: [[String]] = [[], []]
    private(set) var gatheringDone = [false, false]
    private var transports: [ICETransport] = []
    /// Which candidates reach the other end.
    private var passes: @Sendable (String) -> Bool = { _ in true }
    private var callbackWasNested = false
    private var isCalling = false

    init(loop: EventLoop) { self.loop = loop }

    func make(
        _ first: ICEConfiguration, _ second: ICEConfiguration, controlling: (Bool, Bool) = (true, false),
        passing: @escaping @Sendable (String) -> Bool = { _ in true }
    ) {
        passes = passing
        transports = [
            ICETransport(loop: loop, configuration: first, controlling: controlling.0),
            ICETransport(loop: loop, configuration: second, controlling: controlling.1),
        ]
        for index in 0..<2 { attach(index) }
    }

    private func attach(_ index: Int) {
        let transport = transports[index]
        transport.onStateChanged = { [self] state in
            if isCalling { callbackWasNested = true }
            states[index].append(state)
        }
        transport.onCandidate = { [self] line in
            if isCalling { callbackWasNested = true }
            candidates[index].append(line)
            if passes(line) { transports[1 - index].addRemote(candidate: line) }
        }
        transport.onGatheringComplete = { [self] in
            if isCalling { callbackWasNested = true }
            gatheringDone[index] = true
            transports[1 - index].endOfRemoteCandidates()
        }
        transport.onReceive = { [self] packet in received[index].append(Array(packet)) }
    }

    func connect() {
        isCalling = true
        for index in 0..<2 {
            let credentials = transports[1 - index].localCredentials
            transports[index].setRemote(ufrag: credentials.ufrag, pwd: credentials.pwd)
            transports[index].startGathering()
        }
        isCalling = false
    }

    func restart() {
        isCalling = true
        for transport in transports { transport.restart() }
        isCalling = false
    }

    func credentials(_ index: Int) -> String {
        let credentials = transports[index].localCredentials
        return credentials.ufrag + ":" + credentials.pwd
    }

    func send(_ bytes: [UInt8], from index: Int) -> Bool {
        bytes.withUnsafeBytes { transports[index].send($0) }
    }

    func addRemote(_ line: String, to index: Int) { transports[index].addRemote(candidate: line) }
    func inject(remote: (String, String), to index: Int) { transports[index].setRemote(ufrag: remote.0, pwd: remote.1) }
    func pair(_ index: Int) -> ICECandidatePair? { transports[index].selectedPair }
    func state(_ index: Int) -> ICEState { transports[index].state }
    func close(_ index: Int) { transports[index].close() }
    func closeOnReceive(_ index: Int) {
        let transport = transports[index]
        transport.onReceive = { _ in transport.close() }
    }
    var bothConnected: Bool { transports.allSatisfy { $0.state.isConnected } }
    func isReconnected(from old: ICECandidatePair?) -> Bool { transports[0].selectedPair != old && bothConnected }
    var sawNestedCallback: Bool { callbackWasNested }

    func end() {
        for transport in transports { transport.close() }
        transports = []
    }
}
