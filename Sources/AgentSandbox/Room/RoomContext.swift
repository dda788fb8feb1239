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
