public import LiveKitProtocol
public import LoopCore

/// The signaling of one room session: what the server and the transports say goes in, what to do comes out.
///
/// Pure: it opens no socket and reads no clock. ``Room`` drives it. Every socket has a generation, so that what an old
/// one still says cannot touch a newer session. One offer is outstanding at a time; more wishes are remembered and
/// served by the next one.
public struct RoomStateMachine: Sendable {
    /// The steps of a connection.
    public enum Phase: Sendable, Equatable {
        case idle
        /// Waiting for the transport to make the offer that travels in the join request.
        case preparingOffer
        case openingSocket
        /// The socket was refused; asking the validation endpoint why.
        case validating
        /// The socket is open; waiting for the join response.
        case joining
        /// Joined; waiting for the media transport.
        case connectingMedia
        case connected
        /// The server cannot be reached; the service is asked for its other regions.
        case findingRegion
        /// The connection was lost; the next attempt to get it back begins then.
        case backingOff(until: MonotonicTime)
        /// The server refused the token of an attempt; another one is awaited.
        case awaitingToken
        case disconnected(DisconnectCause)

        var isOver: Bool {
            if case .disconnected = self { return true }
            return false
        }
    }

    /// Time limits, each from the start of its step.
    public struct Limits: Sendable, Equatable {
        public var socket: Duration = .seconds(10)
        public var validation: Duration = .seconds(5)
        public var join: Duration = .seconds(7)
        public var media: Duration = .seconds(15)
        public var publish: Duration = .seconds(10)
        public var negotiation: Duration = .seconds(15)
        /// For the answer to a request such as a change of attributes.
        public var request: Duration = .seconds(5)
        /// For another token where the server refused the one there is.
        public var token: Duration = .seconds(15)
        /// For the list of a service's regions.
        public var regions: Duration = .seconds(5)

        public init() {}
    }

    public struct Configuration: Sendable {
        public var autoSubscribe = true
        /// The first way to join; `.v1` falls back to `.v0` where the server does not know it.
        public var path = LiveKitURL.SignalPath.v1
        /// Whether `.v1` may fall back to `.v0`.
        public var fallsBack = true
        public var clientInfo = ClientInfo()
        public var limits = Limits()
        /// Attempts to get a lost connection back before it is given up; 0 gives up at once.
        public var maximumReconnects = 10
        /// Whether somebody answers ``RoomEvent/tokenNeeded``.
        public var renewsToken = false
        /// Where to look for another region when a server cannot be reached.
        public var regions = RegionUse.cloud
        /// Of the random part of the delays between attempts.
        public var seed: UInt64 = .random(in: 0 ... .max)

        public init() {}
    }

    public private(set) var phase = Phase.idle
    public let configuration: Configuration
    public internal(set) var path: LiveKitURL.SignalPath
    public internal(set) var room: LiveKitProtocol.Room?
    public internal(set) var local: Participant?
    /// The others, by identity.
    public internal(set) var remotes: [String: Participant] = [:]

    /// The server that was asked for.
    var home: LiveKitURL?
    /// The one in use: the same, or a region of its service.
    var url: LiveKitURL?
    var regions = Regions()
    var token = ""
    var generation = 0
    var effects: [Effect] = []
    var deadline: (at: MonotonicTime, step: String, limit: Duration)?
    var refusal: (status: Int, body: String)?

    // Recovery.
    /// The session was connected once: it is worth getting back.
    var wasConnected = false
    var recovery: Recovery?
    var randomState: UInt64 = 0
    /// An offer was under way when the socket was lost.
    var hasUnansweredOffer = false

    // Negotiation.
    var offerID: UInt32 = 0
    var outstandingOffer: (id: UInt32, sentAt: MonotonicTime)?
    var isOfferRequested = false
    var needsOffer = false
    var joinOffer = ""
    var midToTrackID: [String: String] = [:]
    var subscribedTracks: Set<String> = []
    var pendingCandidates: [(SignalTarget, String)] = []
    var connectedTargets: Set<SignalTarget> = []
    var subscriberPrimary = false
    /// Sections for received audio that were asked for so far.
    var receiverCount = 0
    /// Whether something is to be sent that needs the publishing connection.
    var isPublisherWanted = false
    /// Subscribed tracks that were announced: their publishers are known.
    var announcedTracks: Set<String> = []

    // Participants.
    var speakers: [String: SpeakerInfo] = [:]
    var hasWarnedOfParticipants = false

    // Publishing.
    var publications: [String: Publication] = [:]
    /// Own tracks that have a subscriber before the answer that names them.
    var earlySubscriptions: Set<String> = []

    // Keep-alive.
    var pingInterval: Duration?
    var pingTimeout: Duration?
    var nextPing: MonotonicTime?
    var unansweredPing: MonotonicTime?
    var roundTripMilliseconds: Int64 = 0

    // Requests.
    var heldUpdates: [UpdateParticipantMetadata] = []
    /// When each request that waits for its answer was sent.
    var awaitedAnswers: [UInt32: MonotonicTime] = [:]

    // What one session may hold.
    static let maximumReceivers = 64
    static let maximumParticipants = 10_000
    static let maximumSpeakers = 256
    static let maximumEarlySubscriptions = 32
    static let maximumRequests = 64

    /// A track of this end.
    struct Publication: Sendable {
        enum State: Sendable, Equatable { case waiting, requested(MonotonicTime), published(sid: String) }

        var request: AddTrackRequest
        var state = State.waiting
        var isMuted = false
        /// As the server described it.
        var track: TrackInfo?
    }

    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        path = configuration.path
        randomState = configuration.seed
    }

    /// What the driver has to do, in order.
    public enum Effect: Sendable, Equatable {
        /// Make the transports of that path; what there was is closed.
        case makeTransports(LiveKitURL.SignalPath)
        /// Use these servers and start gathering.
        case useICEServers([LiveKitProtocol.ICEServer], relayOnly: Bool)
        /// Make an offer on the publishing transport and apply it locally, then report ``Input/offerMade(sdp:)``.
        case makeOffer
        case applyAnswer(sdp: String)
        /// Apply the server's offer to the subscribing transport, then report ``Input/answerMade(sdp:id:)``.
        case applyOffer(sdp: String, id: UInt32)
        case addCandidate(SignalTarget, json: String)
        case addReceivers(audio: Int)
        /// Send the track of that client id from the next offer on.
        case addSender(cid: String, stream: String, redundant: Bool)
        case openSocket(generation: Int, url: String, token: String)
        case validate(generation: Int, url: String, token: String)
        /// Get the list of regions and report ``Input/regionsFound(_:)``.
        case fetchRegions(url: String, token: String)
        case send(SignalRequest)
        case closeSocket
        case closeTransports
        /// The audio of the media section `mid` is that of the track.
        case bind(mid: String, trackSid: String)
        case unbind(trackSid: String)
        /// Use these servers from the next ICE restart on.
        case updateICEServers([LiveKitProtocol.ICEServer])
        /// The next offer restarts ICE.
        case restartICE
        /// Send this after adding the descriptions and the state of received data.
        case sendSyncState(SyncState)
        /// Send reliable packets again whose number is greater.
        case replayData(after: UInt32)
        /// Numbers of reliable packets begin anew: the session is another.
        case restartData
        /// A request of ``Input/updateMetadata(_:)`` was granted, or not.
        case requestEnded(id: UInt32, RequestError?)
        case event(RoomEvent)
    }

    /// A media section that receives, as the transport reports it after a negotiation.
    public struct Receiving: Sendable, Equatable {
        public var mid: String
        /// The stream part of `a=msid`, such as `PA_x|TR_x`.
        public var stream: String
        /// The track part of `a=msid`.
        public var track: String

        public init(mid: String, stream: String, track: String) {
            self.mid = mid
            self.stream = stream
            self.track = track
        }
    }

    /// What happens to a session.
    public enum Input: Sendable {
        case connect(url: String, token: String)
        case leave
        case publish(AddTrackRequest)
        case setMuted(cid: String, Bool)
        /// The request's id is the driver's, and not used before.
        case updateMetadata(UpdateParticipantMetadata)
        /// Data waits to be sent.
        case dataWaits
        case socketOpened(generation: Int)
        case socketRefused(generation: Int, status: Int, body: String)
        case socketFailed(generation: Int, reason: String)
        case socketClosed(generation: Int, reason: String)
        /// The validation endpoint answered; nil when it did not.
        case validated(generation: Int, status: Int?, body: String)
        case received(generation: Int, SignalResponse)
        case offerMade(sdp: String)
        case answerMade(sdp: String, id: UInt32)
        case candidateFound(SignalTarget, json: String)
        case receiving([Receiving])
        case transportConnected(SignalTarget)
        case transportFailed(SignalTarget, reason: String)
        case negotiationFailed(reason: String)
        /// The answer to ``RoomEvent/tokenNeeded``; nil where there is none.
        case tokenRenewed(String?)
        /// The URLs of the service's regions, the nearest first; nil where there are none.
        case regionsFound([String]?)
        /// Time passed; sent every 100 to 250 ms.
        case tick
    }

    /// Takes one input and returns what to do about it, in order.
    public mutating func handle(_ input: Input, now: MonotonicTime) -> [Effect] {
        effects = []
        guard !phase.isOver else {
            // Whoever asks gets an answer.
            guard case .updateMetadata(let update) = input else { return [] }
            return [.requestEnded(id: update.requestId, .disconnected)]
        }
        switch input {
        case .connect(let url, let token): connect(url: url, token: token, now: now)
        case .leave: leave(now: now)
        case .publish(let request): publish(request, now: now)
        case .setMuted(let cid, let isMuted): setMuted(cid: cid, isMuted)
        case .updateMetadata(let update): updateMetadata(update, now: now)
        case .dataWaits: dataWaits(now: now)
        case .tokenRenewed(let token): tokenRenewed(token, now: now)
        case .regionsFound(let list): found(list, now: now)
        case .socketOpened, .socketRefused, .socketFailed, .socketClosed, .validated, .received:
            handleSignal(input, now: now)
        case .offerMade, .answerMade, .candidateFound, .receiving, .transportConnected, .transportFailed,
            .negotiationFailed:
            handleTransport(input, now: now)
        case .tick: tick(now: now)
        }
        defer { effects = [] }
        return effects
    }

    // MARK: Starting and ending

    private mutating func connect(url text: String, token: String, now: MonotonicTime) {
        guard phase == .idle else { return }
        do {
            home = try LiveKitURL(text)
            url = home
        } catch {
            return end(error, now: now)
        }
        self.token = token
        effects.append(.event(.connectionStateChanged(.connecting)))
        start(path, now: now)
    }

    /// Starts joining on a path, with transports of its own: nothing of an earlier attempt is kept.
    mutating func start(_ path: LiveKitURL.SignalPath, now: MonotonicTime) {
        self.path = path
        generation += 1
        offerID = 0
        outstandingOffer = nil
        isOfferRequested = false
        needsOffer = false
        pendingCandidates = []
        connectedTargets = []
        midToTrackID = [:]
        receiverCount = 0
        switch path {
        case .v1:
            move(.prepareOffer, to: .preparingOffer, now: now)
            effects.append(.makeTransports(.v1))
            if configuration.autoSubscribe { addReceivers(1) }
            requestOffer(now: now)
        case .v0:
            openSocket(now: now)
        }
    }

    mutating func openSocket(now: MonotonicTime) {
        guard let url else { return }
        move(.openSocket, to: .openingSocket, now: now)
        setDeadline("connecting to \(url)", configuration.limits.socket, now: now)
        effects.append(
            .openSocket(generation: generation, url: url.signal(path, query: joinQuery), token: token))
    }

    private mutating func leave(now: MonotonicTime) {
        if case .idle = phase { return end(.clientInitiated, now: now) }
        // Sent even before the join response: the server would keep the participant otherwise.
        if isSocketOpen { sendLeave() }
        end(.clientInitiated, now: now)
    }

    private mutating func sendLeave() {
        var request = LeaveRequest()
        request.reason = .clientInitiated
        request.action = .disconnect
        send(.leave(request))
    }

    /// Ends the session: nothing is acted on afterwards.
    mutating func end(_ cause: DisconnectCause, now: MonotonicTime) {
        guard !phase.isOver else { return }
        // A session that fails after the socket opened says so to the server.
        if isSocketOpen, cause != .clientInitiated, !Self.isServerSide(cause) { sendLeave() }
        move(.end, to: .disconnected(cause), cause: cause, now: now)
        deadline = nil
        nextPing = nil
        unansweredPing = nil
        abandonRequests()
        effects.append(.closeSocket)
        effects.append(.closeTransports)
        effects.append(.event(.connectionStateChanged(.disconnected)))
        effects.append(.event(.disconnected(cause)))
    }

    private static func isServerSide(_ cause: DisconnectCause) -> Bool {
        switch cause {
        case .server, .serverAskedToReconnect, .signalLost, .notReconnected: true
        default: false
        }
    }

    /// Changes the phase. A step that is not for this phase changes nothing: it is a fault of the machine, which tests
    /// bring to light.
    mutating func move(_ step: Step, to next: Phase, cause: DisconnectCause? = nil, now: MonotonicTime) {
        guard step.target == next.kind, step.sources.contains(phase.kind) else {
            return assertionFailure("\(step) in \(phase)")
        }
        let transition = Transition(step: step, from: phase.kind, to: next.kind, cause: cause, at: now)
        phase = next
        effects.append(.event(.transition(transition)))
    }

    mutating func send(_ message: SignalRequest.Message) {
        var request = SignalRequest()
        request.message = message
        effects.append(.send(request))
    }

    /// Whether the server is being talked to.
    var isSocketOpen: Bool {
        switch phase {
        case .joining, .connectingMedia, .connected: true
        case .idle, .preparingOffer, .openingSocket, .validating, .findingRegion, .backingOff, .awaitingToken,
            .disconnected:
            false
        }
    }

    /// Whether there is a socket, open or not yet.
    var hasSocket: Bool { phase == .openingSocket || isSocketOpen }

    /// Whether the server let this participant in.
    var isJoined: Bool { phase == .connectingMedia || phase == .connected }

    mutating func setDeadline(_ step: String, _ limit: Duration, now: MonotonicTime) {
        deadline = (now + limit, step, limit)
    }

    // MARK: Time

    private mutating func tick(now: MonotonicTime) {
        if let deadline, now >= deadline.at {
            // The refusal is known already; that the question why was not answered changes nothing.
            if phase == .validating { return endRefused(now: now) }
            if phase == .findingRegion { return endWithoutRegion(now: now) }
            // A resume whose media does not come back needs a new session.
            let kind: RecoveryKind = phase == .connectingMedia ? .full : .resume
            return fail(.timedOut(step: deadline.step, after: deadline.limit), as: kind, now: now)
        }
        if case .backingOff(let until) = phase {
            if now >= until { attemptRecovery(now: now) }
            return
        }
        for (cid, publication) in publications.sorted(by: { $0.key < $1.key }) {
            guard case .requested(let at) = publication.state, now - at >= configuration.limits.publish else {
                continue
            }
            publications[cid] = nil
            effects.append(
                .event(
                    .publishFailed(
                        cid: cid, reason: "no answer within \(DisconnectCause.seconds(configuration.limits.publish))")))
        }
        // The offer in a join request is on its way from the join on: the steps before it have limits of their own.
        if isJoined, let outstandingOffer, now - outstandingOffer.sentAt >= configuration.limits.negotiation {
            return fail(
                .timedOut(step: "the negotiation of media", after: configuration.limits.negotiation), as: .full,
                now: now)
        }
        expireRequests(now: now)
        keepAlive(now: now)
    }
}
