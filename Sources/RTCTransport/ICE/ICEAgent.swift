import CGLib
import CNice
import LoopCore

/// One libnice agent with one stream of one component: one generation of an ICE session. Confined to the loop.
///
/// libnice emits its signals from inside the calls that cause them as well; those are held back until the call has
/// returned, so the owner is never called while it calls.
final class ICEAgent {
    enum Event {
        /// The candidate's line, without `a=`.
        case candidate(String)
        case gatheringDone
        case state(NiceComponentState)
    }

    var onEvent: ((Event) -> Void)?
    var onReceive: ((UnsafeRawBufferPointer) -> Void)?

    let credentials: (ufrag: String, pwd: String)
    private let loop: EventLoop
    private let agent: OpaquePointer
    private let stream: guint
    private static let component: guint = 1

    private var isClosed = false
    private var callDepth = 0
    private var heldBack: [Event] = []
    private var deliveryTimer: LoopTimer?
    private var tunnels: [TURNTLSTunnel] = []

    /// Nil when libnice has no resources left.
    init?(loop: EventLoop, controlling: Bool, enableTCP: Bool, relayOnly: Bool) {
        let options = NICE_AGENT_OPTION_ICE_TRICKLE.rawValue | NICE_AGENT_OPTION_CONSENT_FRESHNESS.rawValue
        guard
            let agent = nice_agent_new_full(
                loop.context, NICE_COMPATIBILITY_RFC5245, NiceAgentOption(rawValue: options))
        else { return nil }
        self.loop = loop
        self.agent = agent
        GObjectProperty.set(agent, "controlling-mode", controlling)
        GObjectProperty.set(agent, "ice-tcp", enableTCP)
        GObjectProperty.set(agent, "ice-udp", true)
        GObjectProperty.set(agent, "force-relay", relayOnly)
        GObjectProperty.set(agent, "upnp", false)
        // Milliseconds between checks. RFC 8445, section 14.2, allows 5 for one agent; 50 would be felt when connecting.
        GObjectProperty.set(agent, "stun-pacing-timer", UInt32(10))
        // A TURN or STUN server that does not answer holds gathering up for 0.2 + 0.4 + … s.
        GObjectProperty.set(agent, "stun-max-retransmissions", UInt32(5))
        stream = nice_agent_add_stream(agent, 1)
        guard stream > 0 else {
            g_object_unref(UnsafeMutableRawPointer(agent))
            return nil
        }
        var ufrag: UnsafeMutablePointer<gchar>?
        var pwd: UnsafeMutablePointer<gchar>?
        nice_agent_get_local_credentials(agent, stream, &ufrag, &pwd)
        credentials = (ufrag.map { String(cString: $0) } ?? "", pwd.map { String(cString: $0) } ?? "")
        g_free(ufrag)
        g_free(pwd)
        connectSignals()
    }

    deinit {
        close()
    }

    /// Allows relayed candidates only; counts for gathering that has not begun.
    func requireRelay() {
        guard !isClosed else { return }
        GObjectProperty.set(agent, "force-relay", true)
    }

    /// Stops all callbacks at once and frees the agent from the loop, after any libnice call that is on the stack.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        deliveryTimer = nil
        heldBack = []
        tunnels = []
        onEvent = nil
        onReceive = nil
        nice_agent_attach_recv(agent, stream, Self.component, loop.context, nil, nil)
        g_signal_handlers_disconnect_matched(
            UnsafeMutableRawPointer(agent), G_SIGNAL_MATCH_DATA, 0, 0, nil, nil,
            Unmanaged.passUnretained(self).toOpaque())
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        // The source owns the last reference. Closing frees TURN allocations; libnice holds the agent until then.
        g_source_set_callback(
            source,
            { agent in
                nice_agent_close_async(agent.map { OpaquePointer($0) }, nil, nil)
                return 0
            }, UnsafeMutableRawPointer(agent), { g_object_unref($0) })
        g_source_attach(source, loop.context)
        g_source_unref(source)
    }

    // MARK: Set-up

    func addLocalAddress(_ text: String) {
        guard let address = nice_address_new() else { return }
        defer { nice_address_free(address) }
        if nice_address_set_from_string(address, text) != 0 { nice_agent_add_local_address(agent, address) }
    }

    /// - Parameter address: numeric.
    func setSTUNServer(address: String, port: UInt16) {
        GObjectProperty.set(agent, "stun-server", address)
        GObjectProperty.set(agent, "stun-server-port", UInt32(port))
    }

    /// - Parameter address: numeric.
    func addTURNServer(address: String, port: UInt16, username: String, password: String, overTCP: Bool) {
        _ = nice_agent_set_relay_info(
            agent, stream, Self.component, address, guint(port), username, password,
            overTCP ? NICE_RELAY_TYPE_TURN_TCP : NICE_RELAY_TYPE_TURN_UDP)
    }

    /// Keeps what a server of this agent is reached through.
    func keep(_ tunnel: TURNTLSTunnel) {
        tunnels.append(tunnel)
    }

    /// - Returns: whether there was an address to gather on.
    func gather() -> Bool {
        calling { nice_agent_gather_candidates(agent, stream) != 0 }
    }

    func setRemote(ufrag: String, pwd: String) -> Bool {
        calling { nice_agent_set_remote_credentials(agent, stream, ufrag, pwd) != 0 }
    }

    func addRemote(_ line: ICECandidateLine) {
        calling {
            guard let candidate = nice_agent_parse_remote_candidate_sdp(agent, stream, "a=" + line.line) else { return }
            let list = g_slist_append(nil, UnsafeMutableRawPointer(candidate))
            nice_agent_set_remote_candidates(agent, stream, Self.component, list)
            g_slist_free(list)
            nice_candidate_free(candidate)
        }
    }

    func endOfRemoteCandidates() {
        calling { _ = nice_agent_peer_candidate_gathering_done(agent, stream) }
    }

    // MARK: In use

    func send(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard !isClosed, let base = packet.baseAddress, packet.count <= Int(UInt16.max) else { return false }
        let sent = calling {
            nice_agent_send(
                agent, stream, Self.component, guint(packet.count), base.assumingMemoryBound(to: gchar.self))
        }
        return Int(sent) == packet.count
    }

    /// Whether this end is the controlling one now; a role conflict may have changed it.
    var isControlling: Bool { GObjectProperty.boolean(agent, "controlling-mode") }

    var selectedPair: ICECandidatePair? {
        var local: UnsafeMutablePointer<NiceCandidate>?
        var remote: UnsafeMutablePointer<NiceCandidate>?
        guard !isClosed, nice_agent_get_selected_pair(agent, stream, Self.component, &local, &remote) != 0,
            let local, let remote
        else { return nil }
        return ICECandidatePair(local: Self.end(local), remote: Self.end(remote))
    }

    private static func end(_ candidate: UnsafeMutablePointer<NiceCandidate>) -> ICECandidatePair.End {
        var text = [CChar](repeating: 0, count: 64)
        nice_address_to_string(&candidate.pointee.addr, &text)
        let type: String
        switch candidate.pointee.type {
        case NICE_CANDIDATE_TYPE_HOST: type = "host"
        case NICE_CANDIDATE_TYPE_SERVER_REFLEXIVE: type = "srflx"
        case NICE_CANDIDATE_TYPE_PEER_REFLEXIVE: type = "prflx"
        default: type = "relay"
        }
        return ICECandidatePair.End(
            type: type, transport: candidate.pointee.transport == NICE_CANDIDATE_TRANSPORT_UDP ? "udp" : "tcp",
            address: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self),
            port: UInt16(truncatingIfNeeded: nice_address_get_port(&candidate.pointee.addr)))
    }

    // MARK: Events

    private func calling<Value>(_ body: () -> Value) -> Value {
        callDepth += 1
        defer { callDepth -= 1 }
        return body()
    }

    private func emit(_ event: Event) {
        guard !isClosed else { return }
        if callDepth == 0, heldBack.isEmpty {
            onEvent?(event)
            return
        }
        heldBack.append(event)
        guard deliveryTimer == nil else { return }
        deliveryTimer = loop.schedule(after: .zero) { [weak self] in
            guard let self else { return }
            deliveryTimer = nil
            let events = heldBack
            heldBack = []
            for event in events where !isClosed { onEvent?(event) }
        }
    }

    private func connectSignals() {
        // Unretained: `close()` disconnects all of these before the object goes.
        let data = Unmanaged.passUnretained(self).toOpaque()
        let onCandidate: @convention(c) (OpaquePointer?, UnsafeMutablePointer<NiceCandidate>?, gpointer?) -> Void = {
            agent, candidate, data in
            guard let agent, let candidate, let data,
                let text = nice_agent_generate_local_candidate_sdp(agent, candidate)
            else { return }
            let line = String(cString: text)
            g_free(text)
            let this = Unmanaged<ICEAgent>.fromOpaque(data).takeUnretainedValue()
            this.emit(.candidate(line.hasPrefix("a=") ? String(line.dropFirst(2)) : line))
        }
        let onGatheringDone: @convention(c) (OpaquePointer?, guint, gpointer?) -> Void = { _, _, data in
            guard let data else { return }
            Unmanaged<ICEAgent>.fromOpaque(data).takeUnretainedValue().emit(.gatheringDone)
        }
        let onState: @convention(c) (OpaquePointer?, guint, guint, guint, gpointer?) -> Void = { _, _, _, state, data in
            guard let data else { return }
            Unmanaged<ICEAgent>.fromOpaque(data).takeUnretainedValue().emit(.state(NiceComponentState(rawValue: state)))
        }
        connect("new-candidate-full", unsafeBitCast(onCandidate, to: GCallback.self), data)
        connect("candidate-gathering-done", unsafeBitCast(onGatheringDone, to: GCallback.self), data)
        connect("component-state-changed", unsafeBitCast(onState, to: GCallback.self), data)
        nice_agent_attach_recv(
            agent, stream, Self.component, loop.context,
            { _, _, _, length, bytes, data in
                guard let data, let bytes, length > 0 else { return }
                let this = Unmanaged<ICEAgent>.fromOpaque(data).takeUnretainedValue()
                guard !this.isClosed else { return }
                this.onReceive?(UnsafeRawBufferPointer(start: bytes, count: Int(length)))
            }, data)
    }

    private func connect(_ signal: String, _ callback: GCallback, _ data: UnsafeMutableRawPointer) {
        g_signal_connect_data(UnsafeMutableRawPointer(agent), signal, callback, data, nil, GConnectFlags(rawValue: 0))
    }
}
