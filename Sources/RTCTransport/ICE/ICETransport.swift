import CNice
import LoopCore

/// One ICE session of one component (RFC 8445) with trickling (RFC 8838), confined to the loop.
///
/// Peer-reflexive candidates, role conflicts, keepalives and consent (RFC 7675) are libnice's. A restart makes a new
/// agent, which sees new interfaces and new servers; the agent before it carries the data until the new one is up.
final class ICETransport {
    /// More remote candidates than this are ignored.
    static let maxRemoteCandidates = 64

    /// A local candidate was found: its line without `a=`.
    var onCandidate: ((String) -> Void)?
    var onGatheringComplete: (() -> Void)?
    var onStateChanged: ((ICEState) -> Void)?
    /// A packet of the peer. The bytes are valid during the call only.
    var onReceive: ((UnsafeRawBufferPointer) -> Void)?

    private(set) var state = ICEState.new
    var localCredentials: (ufrag: String, pwd: String) { current?.credentials ?? ("", "") }
    var selectedPair: ICECandidatePair? { active?.selectedPair ?? current?.selectedPair }

    private let loop: EventLoop
    private var configuration: ICEConfiguration
    private var controlling: Bool
    /// The agent of the newest generation.
    private var current: ICEAgent?
    /// The agent that carries the data.
    private var active: ICEAgent?
    private var resolution: ICEServerResolution?
    private var failureTimer: LoopTimer?
    private var stateTimer: LoopTimer?

    private var isGathering = false
    private var hasRemoteCredentials = false
    private var remoteCandidates: [ICECandidateLine] = []
    private var waitingCandidates: [ICECandidateLine] = []
    private var remoteIsDone = false

    init(loop: EventLoop, configuration: ICEConfiguration, controlling: Bool) {
        self.loop = loop
        self.configuration = configuration
        self.controlling = controlling
        current = makeAgent()
    }

    // MARK: Local side

    /// Replaces the servers; counts from the next ``startGathering()``.
    func setServers(_ servers: [ICEServer]) {
        configuration.servers = servers
    }

    /// Allows relayed candidates only; counts for gathering that has not begun, and for every restart.
    func requireRelay() {
        configuration.relayOnly = true
        current?.requireRelay()
    }

    /// Gathers candidates of this generation; harmless when repeated.
    func startGathering() {
        guard state != .closed, !isGathering, let agent = current else { return }
        isGathering = true
        for address in LocalAddresses.gather(
            loopbackOnly: configuration.loopbackOnly, includeLoopback: configuration.includeLoopback)
        {
            agent.addLocalAddress(address)
        }
        let resolution = ICEServerResolution(loop: loop, configuration: configuration)
        self.resolution = resolution
        resolution.start { [weak self, weak agent] servers in
            guard let self, let agent, agent === current else { return }
            apply(servers, to: agent)
            guard agent.gather() else { return setState(.failed) }
            applyWaitingCandidates()
        }
    }

    private func apply(_ servers: [ICEServerResolution.Server], to agent: ICEAgent) {
        var hasSTUN = false
        for server in servers {
            switch server.scheme {
            case .stun where !hasSTUN:
                hasSTUN = true
                agent.setSTUNServer(address: server.address, port: server.port)
            case .stun: break  // libnice asks one STUN server
            case .turn:
                agent.addTURNServer(
                    address: server.address, port: server.port, username: server.username,
                    password: server.credential, overTCP: server.overTCP)
                if let tunnel = server.tunnel { agent.keep(tunnel) }
            }
        }
    }

    /// Starts anew with other credentials; the connection so far carries data until the new one is up.
    /// ``startGathering()``, ``setRemote(ufrag:pwd:)`` and the candidates have to follow.
    func restart() {
        guard state != .closed else { return }
        if let current {
            controlling = current.isControlling
            if current !== active { current.close() }
        }
        resolution = nil
        failureTimer = nil
        isGathering = false
        hasRemoteCredentials = false
        remoteCandidates = []
        waitingCandidates = []
        remoteIsDone = false
        current = makeAgent()
    }

    // MARK: Remote side

    func setRemote(ufrag: String, pwd: String) {
        // RFC 8445, section 5.3: at least 4 and 22 characters, at most 256.
        guard state != .closed, !hasRemoteCredentials, let agent = current, (4...256).contains(ufrag.utf8.count),
            (22...256).contains(pwd.utf8.count)
        else { return }
        hasRemoteCredentials = agent.setRemote(ufrag: ufrag, pwd: pwd)
        if active == nil, state == .new || state == .failed { setStateLater(.checking, of: agent) }
        if failureTimer == nil { failAfter(configuration.connectTimeout) }
        applyWaitingCandidates()
    }

    /// - Parameter candidate: a candidate line, with or without `a=`. One that is malformed, of another component or
    ///   not an IP address is ignored.
    func addRemote(candidate: String) {
        guard state != .closed, let line = try? ICECandidateLine(candidate), !remoteCandidates.contains(line),
            remoteCandidates.count < Self.maxRemoteCandidates
        else { return }
        if line.transport != .udp, !configuration.enableTCP { return }
        remoteCandidates.append(line)
        waitingCandidates.append(line)
        applyWaitingCandidates()
    }

    func endOfRemoteCandidates() {
        guard state != .closed, !remoteIsDone else { return }
        remoteIsDone = true
        applyWaitingCandidates()
    }

    private func applyWaitingCandidates() {
        guard hasRemoteCredentials, resolution?.isComplete == true, let agent = current else { return }
        for line in waitingCandidates { agent.addRemote(line) }
        waitingCandidates = []
        if remoteIsDone { agent.endOfRemoteCandidates() }
    }

    // MARK: Data

    /// Sends a packet to the peer.
    /// - Returns: false when there is no connection or the socket is full; the packet is lost then.
    @discardableResult
    func send(_ packet: UnsafeRawBufferPointer) -> Bool {
        active?.send(packet) ?? false
    }

    /// Ends the session. No callback follows. Harmless when repeated.
    func close() {
        guard state != .closed else { return }
        state = .closed
        onCandidate = nil
        onGatheringComplete = nil
        onStateChanged = nil
        onReceive = nil
        failureTimer = nil
        stateTimer = nil
        resolution = nil
        active?.close()
        current?.close()
        active = nil
        current = nil
    }

    // MARK: Events of the agents

    private func makeAgent() -> ICEAgent? {
        let agent = ICEAgent(
            loop: loop, controlling: controlling, enableTCP: configuration.enableTCP,
            relayOnly: configuration.relayOnly)
        agent?.onEvent = { [weak self, weak agent] event in
            guard let self, let agent else { return }
            handle(event, of: agent)
        }
        agent?.onReceive = { [weak self] packet in self?.onReceive?(packet) }
        return agent
    }

    private func handle(_ event: ICEAgent.Event, of agent: ICEAgent) {
        switch event {
        case .candidate(let line):
            guard agent === current else { return }
            if configuration.relayOnly, !line.contains(" typ relay") { return }
            onCandidate?(line)
        case .gatheringDone:
            if agent === current { onGatheringComplete?() }
        case .state(let new):
            handle(new, of: agent)
        }
    }

    private func handle(_ new: NiceComponentState, of agent: ICEAgent) {
        switch new {
        case NICE_COMPONENT_STATE_CONNECTING:
            if agent === current, active == nil { setState(.checking) }
        case NICE_COMPONENT_STATE_CONNECTED, NICE_COMPONENT_STATE_READY:
            guard agent === current || agent === active else { return }
            if agent === current, active !== agent {
                active?.close()
                active = agent
            }
            // A lost connection of the previous generation that comes back does not end the wait for the new one.
            if agent === current { failureTimer = nil }
            setState(new == NICE_COMPONENT_STATE_READY ? .completed : .connected)
        case NICE_COMPONENT_STATE_FAILED:
            if agent === active {
                guard state.isConnected else { return }
                setState(.disconnected)
                if failureTimer == nil, state == .disconnected { failAfter(configuration.disconnectedTimeout) }
            } else if agent === current, remoteIsDone {
                // Before the peer's last candidate this only says that nothing works yet.
                failureTimer = nil
                if !(active != nil && state.isConnected) { setState(.failed) }
            }
        default: break
        }
    }

    private func failAfter(_ delay: Duration) {
        failureTimer = loop.schedule(after: delay) { [weak self] in
            guard let self else { return }
            failureTimer = nil
            setState(.failed)
        }
    }

    private func setStateLater(_ new: ICEState, of agent: ICEAgent) {
        stateTimer = loop.schedule(after: .zero) { [weak self, weak agent] in
            guard let self, agent === current, active == nil else { return }
            if state == .new || state == .failed { setState(new) }
        }
    }

    private func setState(_ new: ICEState) {
        guard state != new, state != .closed else { return }
        // An agent that is still checking better pairs says CONNECTED again; that is no step back.
        if state == .completed, new == .connected { return }
        state = new
        onStateChanged?(new)
    }
}
