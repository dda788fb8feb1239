import LoopCore

/// The state of the SCTP association.
enum SCTPState: Sendable, Equatable {
    case new, connecting, connected
    case failed(reason: String)
    case closed
}

/// An SCTP association over DTLS with its data channels (RFC 8831, RFC 8832), confined to the loop.
final class SCTPAssociation {
    struct Configuration: Sendable {
        var localPort: UInt16 = 5000
        var remotePort: UInt16 = 5000
        /// What `a=max-message-size` announces, in bytes.
        var maxMessageSize = 262_144
        /// The peer's `a=max-message-size`, in bytes; 0 means no limit.
        var remoteMaxMessageSize = 65_536
    }
    var configuration: Configuration

    /// An SCTP packet to send as DTLS application data.
    var onSend: (([UInt8]) -> Void)?
    var onStateChanged: ((SCTPState) -> Void)?
    /// The peer opened a channel. Set its callbacks in the call; messages follow it.
    var onDataChannel: ((DataChannel) -> Void)?
    private(set) var state = SCTPState.new

    init(loop: EventLoop, configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// Connects; call when DTLS has. The DTLS role decides who uses even and who odd stream ids.
    func start(role: DTLSRole) {}
    func receive(_ packet: [UInt8]) {}
    /// A channel opens once the association is up.
    func createDataChannel(
        label: String, protocol: String = "", ordered: Bool = true, maxRetransmits: UInt16? = nil,
        maxPacketLifetime: UInt16? = nil, negotiatedID: UInt16? = nil
    ) -> DataChannel {
        DataChannel(
            label: label, protocol: `protocol`, ordered: ordered, maxRetransmits: maxRetransmits,
            maxPacketLifetime: maxPacketLifetime, negotiatedID: negotiatedID)
    }
    func close() {}
}
