import Foundation
import LiveKitProtocol
import LoopCore
import RTCTransport
import WebIO

/// A participant as the server keeps it: its signal connection, its peer connections, what it publishes and what it is
/// subscribed to. Confined to the loop.
final class RoomMember {
    /// `add_track` requests that wait for their media section at most.
    static let maximumPendingTracks = 20
    /// Data channels that a client may open.
    static let maximumChannels = 16
    /// Frames that do not parse before the connection is given up.
    static let maximumMalformedFrames = 10

    /// An `add_track` whose media section has not been offered yet.
    struct PendingTrack {
        var request: AddTrackRequest
        var info: TrackInfo
    }

    let context: RoomContext
    weak var room: SandboxRoom?
    let client: ClientInfo
    let isSinglePC: Bool
    var autoSubscribe: Bool
    /// The join response was sent.
    var hasJoined = false
    var grants: JoinGrants
    private(set) var info = ParticipantInfo()

    // Signaling.
    private var socket: WebSocket?
    private var malformedFrames = 0
    /// The client's last frame was text: it is answered in kind, in JSON.
    private var speaksText = false
    private var resumeTimer: LoopTimer?
    private var joinTimer: LoopTimer?
    private var tokenTimer: LoopTimer?
    var failureTimer: LoopTimer?
    private(set) var isClosed = false

    // Media.
    let publisher: PeerConnection
    /// The connection for what the participant receives; nil when one connection serves both ways.
    let subscriber: PeerConnection?
    var pendingTracks: [PendingTrack] = []
    var tracks: [PublishedTrack] = []
    var subscriptions: [Subscription] = []
    var hasApplication = false
    var wasAnswered = false
    /// Of the last `media_sections_requirement`: what was missing, and how many sections there were.
    var lastRequirement: (missing: Int, sections: Int)?
    var offer = SubscriberOffer()

    /// The state of the server's offers to the subscriber connection.
    struct SubscriberOffer {
        var id = UInt32.random(in: 1...256)
        var isOutstanding = false
        var isNeeded = false
        var timer: LoopTimer?
    }

    // Data.
    var upstream: [DataChannel] = []
    var reliable: DataChannel?
    var lossy: DataChannel?
    var sequence = SequenceFilter()
    var replay = ReplayBuffer()
    var meter = QualityMeter()

    /// - Throws: ``DTLSError``.
    init(_ parameters: JoinParameters, grants: JoinGrants, room: SandboxRoom) throws(DTLSError) {
        context = room.context
        self.room = room
        self.grants = grants
        client = parameters.client
        isSinglePC = parameters.usesSinglePeerConnection
        autoSubscribe = parameters.autoSubscribe
        publisher = try context.makePeerConnection()
        subscriber = isSinglePC || !grants.canSubscribe ? nil : try context.makePeerConnection()
        let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
        info.sid = ServerIdentity.makeID("PA_")
        info.identity = grants.identity
        info.name = grants.name
        info.kind = grants.kind
        info.metadata = grants.metadata
        info.attributes = grants.attributes
        if grants.canUpdateOwnMetadata {
            if !parameters.metadata.isEmpty { info.metadata = parameters.metadata }
            info.attributes.merge(parameters.attributes) { _, new in new }
        }
        info.joinedAt = milliseconds / 1000
        info.joinedAtMs = milliseconds
        info.permission = grants.permission
        info.clientProtocol = client.clientProtocol
        info.capabilities = client.capabilities
        watch(publisher, target: .publisher)
        if let subscriber { watch(subscriber, target: .subscriber) }
    }

    var sid: String { info.sid }
    var identity: String { info.identity }
    var isActive: Bool { info.state == .active }
    /// The connection that decides whether the participant is there.
    var primary: PeerConnection { subscriber ?? publisher }

    /// Changes what is known of the participant, under a new version.
    func change(_ body: (inout ParticipantInfo) -> Void) {
        body(&info)
        info.version += 1
    }

    /// The tracks as others see them.
    func refreshTracks() {
        change { info in
            info.tracks = tracks.map(\.info)
            info.isPublisher = info.isPublisher || !tracks.isEmpty
        }
    }

    // MARK: Signaling

    /// Takes over a signal connection; an earlier one is closed.
    func attach(_ socket: WebSocket) {
        resumeTimer = nil
        failureTimer = nil
        if let old = self.socket {
            old.onEvent = nil
            old.close(code: 1000, reason: "")
        }
        self.socket = socket
        malformedFrames = 0
        speaksText = false
        socket.onEvent = { [weak self, weak socket] event in
            guard let self, let socket, self.socket === socket else { return }
            self.handle(event)
        }
    }

    func send(_ message: SignalResponse.Message) {
        guard let socket else { return }
        var response = SignalResponse()
        response.message = message
        if speaksText, let text = try? response.protoJSON() {
            socket.send(text: text)
        } else {
            socket.send(binary: response.serializedBytes())
        }
    }

    func send(raw bytes: [UInt8]) { socket?.send(binary: bytes) }

    private func handle(_ event: WebSocket.Event) {
        switch event {
        case .binary(let bytes):
            speaksText = false
            receive(try? SignalRequest(serializedBytes: bytes), size: bytes.count)
        case .text(let text):
            speaksText = true
            receive(try? SignalRequest(protoJSON: text), size: text.utf8.count)
        case .closed, .failed:
            socket = nil
            signalLost()
        case .opened:
            break
        }
    }

    private func receive(_ request: SignalRequest?, size: Int) {
        guard let request else {
            malformedFrames += 1
            context.log("\(identity): a signal frame of \(size) bytes does not parse")
            if malformedFrames >= Self.maximumMalformedFrames { closeSocket(code: 1003) }
            return
        }
        if let message = request.message { handle(message) }
    }

    /// Keeps the participant for a while: it may resume. One whose media never came up is gone at once.
    private func signalLost() {
        guard !isClosed else { return }
        guard isActive else {
            room?.remove(self, reason: .signalClose)
            return
        }
        context.log("\(identity): signal connection lost")
        resumeTimer = context.loop.schedule(after: context.configuration.resumeWindow) { [weak self] in
            guard let self else { return }
            self.room?.remove(self, reason: .signalClose)
        }
    }

    /// Closes the signal connection and keeps the participant, as a network failure would.
    func dropSignal(abruptly: Bool) {
        guard let socket else { return }
        self.socket = nil
        socket.onEvent = nil
        if abruptly { socket.abort() } else { socket.close(code: 1000, reason: "") }
        signalLost()
    }

    func closeSocket(code: Int) {
        socket?.close(code: code, reason: "")
    }

    func startTimers() {
        joinTimer = context.loop.schedule(after: context.configuration.joinTimeout) { [weak self] in
            guard let self, !self.isActive else { return }
            self.room?.expel(self, reason: .joinFailure)
        }
        tokenTimer = context.loop.schedule(every: .seconds(300), startingAt: .now + .seconds(300)) { [weak self] in
            self?.sendToken()
        }
    }

    /// A fresh token with the same grants, for later reconnects.
    func sendToken() {
        var current = grants
        current.name = info.name
        current.metadata = info.metadata
        current.attributes = info.attributes
        if let token = try? context.tokens.mint(current) { send(.refreshToken(token)) }
    }

    // MARK: State

    /// Makes the participant active once its primary connection and its reliable channel are up; only then can it be
    /// sent data.
    func checkActive() {
        guard !isClosed, !isActive, primary.connectionState == .connected else { return }
        let needsChannel = isSinglePC || subscriber == nil ? hasApplication : true
        if needsChannel, reliable?.readyState != .open { return }
        joinTimer = nil
        change { $0.state = .active }
        context.log("\(identity): active")
        room?.becameActive(self)
        announceSubscriptions()
    }

    /// Ends everything that the participant has. The room tells the others.
    func close(_ leave: LeaveRequest?, reason: DisconnectReason) {
        guard !isClosed else { return }
        isClosed = true
        if let leave { send(.leave(leave)) }
        if let socket {
            socket.onEvent = nil
            socket.close(code: 1000, reason: "")
        }
        socket = nil
        resumeTimer = nil
        joinTimer = nil
        tokenTimer = nil
        failureTimer = nil
        offer.timer = nil
        for track in tracks { track.stop() }
        for subscription in subscriptions { subscription.track.remove(subscription) }
        subscriptions = []
        for channel in upstream {
            channel.onMessage = nil
            channel.onOpen = nil
        }
        context.retire([publisher, subscriber].compactMap { $0 })
        change { info in
            info.state = .disconnected
            info.disconnectReason = reason
            info.tracks = []
        }
    }
}
