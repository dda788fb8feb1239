import LoopCore

/// An SCTP association over DTLS (RFC 8261) with its data channels (RFC 8831), confined to the loop.
///
/// The channels are in `SCTPAssociation+Channels.swift`.
final class SCTPAssociation {
    struct Configuration: Sendable {
        var localPort: UInt16 = 5000
        var remotePort: UInt16 = 5000
        /// What `a=max-message-size` announces, in bytes.
        var maxMessageSize = 262_144
        /// The peer's `a=max-message-size`, in bytes; 0 means no limit.
        var remoteMaxMessageSize = 65_536
        /// Streams of each direction, and so the largest id of a channel plus one.
        var streams: UInt16 = 1024
    }

    /// What is sent in one message at most, whatever the peer allows; it has to fit the send buffer. Bytes.
    static let maxSendSize = 262_144
    /// What waits for room in SCTP's send buffer at most, over all channels. Bytes.
    static let maxBuffered = 16 << 20

    /// Ports count from ``start(role:)``, sizes at once.
    var configuration: Configuration

    /// An SCTP packet to send as DTLS application data.
    var onSend: (([UInt8]) -> Void)?
    var onStateChanged: ((SCTPState) -> Void)?
    /// The peer opened a channel. Set its callbacks in the call; messages follow it.
    var onDataChannel: ((DataChannel) -> Void)?
    private(set) var state = SCTPState.new

    // Shared with the extension in `SCTPAssociation+Channels.swift`.
    let loop: EventLoop
    var role: DTLSRole?
    var socket: SCTPSocket?
    /// Streams this end may send on; what the two ends agreed once connected.
    var outboundStreams: UInt16
    var channels: [UInt16: DataChannel] = [:]
    /// Channels made before the DTLS role was known, which decides about their ids.
    var unnumbered: [DataChannel] = []
    var queue = SCTPSendQueue()
    var early = EarlyMessages()
    var resets: Set<UInt16> = []

    private let mailbox: SCTPMailbox
    private var reassembler: SCTPReassembler
    private var isCollecting = false
    private var deferred: [() -> Void] = []
    private var deferredTimer: LoopTimer?
    private var ticker: LoopTimer?
    private var busyUntil = MonotonicTime(nanoseconds: 0)

    init(loop: EventLoop, configuration: Configuration = Configuration()) {
        self.loop = loop
        self.configuration = configuration
        outboundStreams = configuration.streams
        mailbox = SCTPMailbox(loop: loop)
        reassembler = SCTPReassembler(maxMessageSize: configuration.maxMessageSize)
        mailbox.setOwner(self)
    }

    // MARK: Operations

    /// Connects; call when DTLS has. The DTLS role decides who uses even and who odd stream ids (RFC 8832, section 6).
    func start(role: DTLSRole) {
        guard state == .new else { return }
        state = .connecting
        self.role = role
        numberChannels()
        later { [weak self] in
            guard let self, state == .connecting else { return }
            onStateChanged?(.connecting)
            connect()
        }
    }

    private func connect() {
        guard
            let socket = SCTPSocket(
                mailbox: mailbox, localPort: configuration.localPort, streams: configuration.streams,
                sendBuffer: Self.maxSendSize + 65_536, receiveBuffer: 1 << 20)
        else { return end(.failed(reason: "the SCTP stack could not make a socket")) }
        self.socket = socket
        guard socket.connect(port: configuration.remotePort) else {
            return end(.failed(reason: "the SCTP stack could not connect"))
        }
        collect()
        tickLater()
    }

    /// Takes a packet of the peer.
    func receive(_ packet: [UInt8]) {
        // The common header and one chunk header (RFC 9260, section 3).
        guard let socket, packet.count >= 16, packet.count <= Int(UInt16.max) else { return }
        stayBusy()
        socket.receive(packet)
        collect()
    }

    /// Aborts the association. No callback of it or of its channels follows. Harmless when repeated.
    func close() {
        state = .closed
        onStateChanged = nil
        onDataChannel = nil
        deferredTimer = nil
        deferred = []
        ticker = nil
        socket?.close()
        socket = nil
        for packet in mailbox.takePackets() { onSend?(packet) }
        onSend = nil
        mailbox.setOwner(nil)
        for channel in channels.values { channel.retire() }
        for channel in unnumbered { channel.retire() }
        channels = [:]
        unnumbered = []
        queue = SCTPSendQueue()
        early = EarlyMessages()
    }

    // MARK: Collecting what usrsctp left

    /// Sends the packets and handles the events that are in the mailbox, until there are none.
    func collect() {
        guard !isCollecting else { return }
        isCollecting = true
        defer { isCollecting = false }
        while state != .closed {
            let packets = mailbox.takePackets()
            let events = mailbox.takeEvents()
            if packets.isEmpty, events.isEmpty {
                // SACKs may have made room.
                guard flushQueue() else { return }
                continue
            }
            for packet in packets { onSend?(packet) }
            for event in events { handle(event) }
        }
    }

    /// After a call of the owner: packets go out at once, events are for later.
    func sendPackets() {
        if !isCollecting {
            for packet in mailbox.takePackets() { onSend?(packet) }
        }
        mailbox.wakeIfNeeded()
    }

    private func handle(_ event: SCTPSocketEvent) {
        guard state == .connecting || state == .connected else { return }
        switch event {
        case .fragment(let fragment):
            if let message = reassembler.add(fragment) { handle(message) }
        case .notification(let bytes):
            guard let notification = SCTPNotification(bytes) else { return }
            handle(notification)
        case .ended:
            end(.failed(reason: "the SCTP association ended"))
        }
    }

    private func handle(_ notification: SCTPNotification) {
        switch notification {
        case .up(let outbound, _):
            guard state == .connecting else { return }
            outboundStreams = min(outbound, configuration.streams)
            state = .connected
            onStateChanged?(.connected)
            openChannels()
        case .lost(let reason):
            end(.failed(reason: reason))
        case .shutDown:
            end(.closed)
        case .incomingReset(let streams):
            for stream in streams {
                reassembler.abandon(stream: stream)
                incomingReset(stream)
            }
            requestResets()
        case .outgoingReset(let streams):
            for stream in streams { outgoingReset(stream) }
            requestResets()
        case .resetRefused(let streams):
            // Nothing more can be done about them.
            for stream in streams {
                outgoingReset(stream)
                incomingReset(stream)
            }
        case .abandoned(let stream):
            reassembler.abandon(stream: stream)
        }
    }

    /// The association ended by itself: its channels close.
    private func end(_ new: SCTPState) {
        guard state != .closed, state != new else { return }
        ticker = nil
        socket?.close()
        socket = nil
        let open = Array(channels.values) + unnumbered
        channels = [:]
        unnumbered = []
        queue = SCTPSendQueue()
        let report = onStateChanged
        if new == .closed {
            // `close()` would be the end of callbacks; this is the peer's doing and is told.
            mailbox.setOwner(nil)
        }
        state = new
        for packet in mailbox.takePackets() { onSend?(packet) }
        report?(new)
        for channel in open { finish(channel) }
    }

    // MARK: Time

    /// Runs `body` on the loop's next turn: callbacks do not come from within the call that causes them.
    func later(_ body: @escaping () -> Void) {
        deferred.append(body)
        guard deferredTimer == nil else { return }
        deferredTimer = loop.schedule(after: .zero) { [weak self] in
            guard let self else { return }
            deferredTimer = nil
            let bodies = deferred
            deferred = []
            for body in bodies { body() }
        }
    }

    /// usrsctp's timers need the clock: often while data is under way, rarely while only heartbeats are.
    func stayBusy() {
        let wasBusy = MonotonicTime.now < busyUntil
        busyUntil = .now + .milliseconds(500)
        if !wasBusy, ticker != nil { tickLater() }
    }

    private func tickLater() {
        guard socket != nil else { return }
        let isBusy = MonotonicTime.now < busyUntil || state == .connecting || !queue.isEmpty || !resets.isEmpty
        ticker = loop.schedule(after: isBusy ? .milliseconds(20) : .milliseconds(200)) { [weak self] in
            guard let self, let socket else { return }
            socket.tick()
            collect()
            requestResets()
            finishOverdue()
            tickLater()
        }
    }
}
