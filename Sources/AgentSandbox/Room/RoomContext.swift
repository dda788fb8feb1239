import LoopCore
import RTCTransport

/// What all rooms of a server share. Confined to the loop.
final class RoomContext {
    let loop: EventLoop
    let configuration: SandboxConfiguration
    let tokens: TokenAuthority
    /// One certificate for all connections: making one per connection would cost more than the handshake.
    let certificate: DTLSCertificate
    var faults: SandboxFaults
    /// A participant got in.
    var onJoined: ((SandboxRoom, RoomMember) -> Void)?
    /// The last participant of a room left.
    var onEmpty: ((SandboxRoom) -> Void)?

    init(
        loop: EventLoop, configuration: SandboxConfiguration, tokens: TokenAuthority, certificate: DTLSCertificate
    ) {
        self.loop = loop
        self.configuration = configuration
        self.tokens = tokens
        self.certificate = certificate
        faults = configuration.faults
    }

    // MARK: Connections that are done with

    private var retired: [Int: (connections: [PeerConnection], timer: LoopTimer)] = [:]
    private var nextRetired = 0
    /// How long a goodbye may take to arrive.
    static let grace = Duration.seconds(1)

    /// Closes connections after a while: the end of SCTP would overtake the goodbye, which goes by another way, and
    /// look like a failure.
    func retire(_ connections: [PeerConnection]) {
        for connection in connections { connection.onEvent = nil }
        let number = nextRetired
        nextRetired += 1
        let timer = loop.schedule(after: Self.grace) { [weak self] in self?.close(number) }
        retired[number] = (connections, timer)
    }

    private func close(_ number: Int) {
        guard let entry = retired.removeValue(forKey: number) else { return }
        for connection in entry.connections { connection.close() }
    }

    func closeRetired() {
        for number in retired.keys.sorted() { close(number) }
    }

    func log(_ message: @autoclosure () -> String) {
        if let log = configuration.log { log(message()) }
    }

    /// A peer connection of the server's side.
    func makePeerConnection() throws(DTLSError) -> PeerConnection {
        var settings = PeerConnection.Configuration()
        settings.loopbackOnly = configuration.isLoopback
        settings.enableTCP = configuration.enablesTCP
        settings.maxMessageSize = 65_535
        return try PeerConnection(loop: loop, configuration: settings, certificate: certificate)
    }
}
