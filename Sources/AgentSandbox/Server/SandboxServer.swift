public import LiveKitProtocol
public import LoopCore
import RTCTransport
import WebIO

/// A LiveKit-compatible server for one machine: token endpoints, signaling, and forwarding of audio and data between
/// the participants of its rooms, with an agent that comes when a user joins.
///
/// Everything it does runs on one event loop.
public actor SandboxServer {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Where a server that was started can be reached.
    public struct Endpoints: Sendable, Equatable {
        /// Such as `http://127.0.0.1:7880`: token endpoints and validation.
        public var http: String
        /// Such as `ws://127.0.0.1:7880`: what clients join.
        public var signal: String
        public var port: UInt16
    }

    private let configuration: SandboxConfiguration
    private let tokens: TokenAuthority
    private var http: HTTPServer?
    private var context: RoomContext?
    private var signals: SignalEndpoints?
    private var tokenEndpoints: TokenEndpoints?
    private var agents: [String: ScriptedAgent] = [:]
    private var pendingAgents: [String: LoopTimer] = [:]
    private var lastReports: [String: AgentReport] = [:]
    /// Reports of agents that have left, kept at most.
    private static let maximumReports = 64

    public init(loop: EventLoop, configuration: SandboxConfiguration = SandboxConfiguration()) {
        self.loop = loop
        self.configuration = configuration
        tokens = TokenAuthority(
            key: configuration.apiKey, secret: configuration.apiSecret, lifetime: configuration.tokenLifetime)
    }

    // MARK: Running

    /// Listens. Calling it again while it runs returns the same endpoints.
    /// - Throws: ``SandboxError``.
    public func start() throws -> Endpoints {
        if let http { return endpoints(port: http.port) }
        let context: RoomContext
        let server: HTTPServer
        do {
            let certificate = try DTLSCertificate.generate()
            context = RoomContext(loop: loop, configuration: configuration, tokens: tokens, certificate: certificate)
            server = try HTTPServer(loop: loop, address: configuration.address, port: configuration.port)
        } catch {
            throw SandboxError(description: "the sandbox server cannot start: \(error)")
        }
        let endpoints = endpoints(port: server.port)
        let signals = SignalEndpoints(context: context)
        let tokenEndpoints = TokenEndpoints(context: context, port: server.port)
        tokenEndpoints.install(on: server)
        signals.install(on: server)
        // These hold this actor while it runs: `stop()` lets go of them.
        context.onEmpty = { [self] room in closed(room) }
        context.onJoined = { [self] room, member in joined(room, member) }
        (self.context, self.signals, self.tokenEndpoints, http) = (context, signals, tokenEndpoints, server)
        return endpoints
    }

    /// Sends everybody away and stops listening. Harmless when repeated.
    public func stop() async {
        guard let http, let context, let signals else { return }
        (self.http, self.context, self.signals, tokenEndpoints) = (nil, nil, nil, nil)
        context.onEmpty = nil
        context.onJoined = nil
        http.close()
        pendingAgents = [:]
        let agents = agents.values
        self.agents = [:]
        for agent in agents { await agent.stop() }
        if signals.deleteAll() { try? await Task.sleep(for: .milliseconds(100)) }
        context.closeRetired()
    }

    /// Stops as a crash would: every connection is cut, and nobody is told.
    public func kill() async {
        for room in signals?.rooms.values.map({ $0 }) ?? [] {
            for member in room.members { member.dropSignal(abruptly: true) }
        }
        await stop()
    }

    private func endpoints(port: UInt16) -> Endpoints {
        let host = configuration.address.contains(":") ? "[\(configuration.address)]" : configuration.address
        return Endpoints(http: "http://\(host):\(port)", signal: "ws://\(host):\(port)", port: port)
    }

    private func closed(_ room: SandboxRoom) {
        signals?.remove(room)
        pendingAgents[room.name] = nil
    }

    // MARK: The agent

    /// Sends the agent to a room that a user joined.
    private func joined(_ room: SandboxRoom, _ member: RoomMember) {
        guard let script = configuration.agent, let context, !context.faults.withholdsAgent,
            member.info.kind != .agent, agents[room.name] == nil, pendingAgents[room.name] == nil
        else { return }
        let dispatches = member.grants.dispatches
        guard script.agentName.isEmpty || dispatches.contains(where: { $0.name == script.agentName }) else { return }
        let asked = dispatches.first?.name ?? script.agentName
        let name = room.name
        pendingAgents[name] = loop.schedule(after: max(.zero, context.faults.agentDelay)) { [self] in
            pendingAgents[name] = nil
            dispatch(script, to: name, askedFor: asked)
        }
    }

    private func dispatch(_ script: AgentScript, to room: String, askedFor name: String) {
        guard let http, let there = signals?.rooms[room], agents[room] == nil else { return }
        var script = script
        // Under a user's identity it would throw the user out.
        if there.member(script.identity) != nil { script.identity = ServerIdentity.makeID(script.identity + "-") }
        let token: String
        do {
            token = try makeToken(identity: script.identity, room: room, name: script.name, kind: .agent)
        } catch {
            context?.log("\(error)")
            return
        }
        let agent = ScriptedAgent(
            loop: loop, script: script, attributes: ["lk.agent.name": name, "lk.agent_name": name],
            loopbackOnly: configuration.isLoopback, log: configuration.log)
        agents[room] = agent
        let url = endpoints(port: http.port).signal
        Task {
            await agent.start(url: url, token: token) { [weak self] ending in
                guard let self else { return }
                Task { await self.ended(agent, in: room, because: ending) }
            }
        }
    }

    private func ended(_ agent: ScriptedAgent, in name: String, because ending: ScriptedAgent.Ending) async {
        let report = await agent.report
        guard agents[name] === agent else { return }
        agents[name] = nil
        if lastReports.count >= Self.maximumReports { lastReports.removeAll() }
        lastReports[name] = report
        // Another user may be there, or the same again, who came while the agent was leaving.
        guard ending == .userLeft, let room = signals?.rooms[name] else { return }
        if let user = room.members.first(where: { $0.hasJoined && $0.info.kind != .agent }) { joined(room, user) }
    }

    /// What the agent of a room has seen and done; also after it has left.
    public func agentReport(room: String) async -> AgentReport? {
        if let agent = agents[room] { return await agent.report }
        return lastReports[room]
    }

    // MARK: Control

    /// Changes the injected faults from now on.
    public func setFaults(_ faults: SandboxFaults) { context?.faults = faults }

    /// The names of the rooms that exist.
    public var roomNames: [String] { (signals?.rooms.keys).map { $0.sorted() } ?? [] }

    /// Who is in a room.
    public func participants(in room: String) -> [ParticipantInfo] {
        signals?.rooms[room]?.members.map(\.info) ?? []
    }

    /// Makes a token for a room of this server.
    /// - Parameter kind: what the participant is; an agent gets an agent's grants.
    /// - Throws: ``SandboxError`` when it cannot be made.
    public func makeToken(
        identity: String, room: String, name: String = "", kind: ParticipantInfo.Kind = .standard,
        attributes: [String: String] = [:], canPublish: Bool = true, canSubscribe: Bool = true
    ) throws -> String {
        var grants = JoinGrants()
        grants.identity = identity
        grants.room = room
        grants.name = name
        grants.kind = kind
        grants.attributes = attributes
        grants.roomJoin = true
        grants.canPublish = canPublish
        grants.canPublishData = canPublish
        grants.canSubscribe = canSubscribe
        grants.canUpdateOwnMetadata = true
        grants.agent = kind == .agent
        do {
            return try tokens.mint(grants)
        } catch {
            throw SandboxError(description: "the token cannot be made: \(error)")
        }
    }

    /// Sends a participant away, as the server's API does.
    public func remove(identity: String, room: String) {
        guard let room = signals?.rooms[room], let member = room.member(identity) else { return }
        room.expel(member, reason: .participantRemoved)
    }

    /// Ends a room.
    public func delete(room: String) {
        signals?.rooms[room]?.delete(reason: .roomDeleted)
    }

    /// Mutes or unmutes every track of a participant, as the server's API does.
    public func setMuted(_ isMuted: Bool, identity: String, room: String) {
        guard let member = signals?.rooms[room]?.member(identity) else { return }
        for track in member.tracks {
            var message = MuteTrackRequest()
            message.sid = track.sid
            message.muted = isMuted
            member.send(.mute(message))
            member.setMuted(sid: track.sid, isMuted)
        }
    }

    public func setMetadata(_ metadata: String, room: String) {
        signals?.rooms[room]?.setMetadata(metadata)
    }

    /// Cuts a participant's signal connection as a network failure would; the participant may resume.
    public func dropSignal(identity: String, room: String) {
        signals?.rooms[room]?.member(identity)?.dropSignal(abruptly: true)
    }
}

/// Why the sandbox server could not do something.
public struct SandboxError: Error, Sendable, Equatable, CustomStringConvertible {
    public var description: String
}
