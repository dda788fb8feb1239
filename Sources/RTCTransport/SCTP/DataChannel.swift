import LoopCore

/// A data channel (RFC 8831, W3C `RTCDataChannel`), confined to the loop.
///
/// Callbacks come on the loop and never from within ``send(binary:)``, ``send(text:)`` or ``close()``.
public final class DataChannel {
    public enum State: String, Sendable { case connecting, open, closing, closed }

    public let label: String
    /// The subprotocol; usually empty.
    public let `protocol`: String
    /// The SCTP stream; nil until the DTLS role is known.
    public internal(set) var id: UInt16?
    public let ordered: Bool
    /// How often a message is sent again at most; nil for no limit.
    public let maxRetransmits: UInt16?
    /// For how long a message is sent again, in milliseconds; nil for no limit.
    public let maxPacketLifetime: UInt16?
    /// Whether both ends made the channel under an agreed id, without DCEP.
    public let isNegotiated: Bool
    public internal(set) var readyState = State.connecting
    /// Bytes of messages that SCTP has not accepted yet, because its send buffer is full.
    public internal(set) var bufferedAmount = 0
    /// ``onBufferedAmountLow`` is called when ``bufferedAmount`` falls to this many bytes or fewer.
    public var bufferedAmountLowThreshold = 0

    public var onOpen: (() -> Void)?
    public var onMessage: (([UInt8], _ isBinary: Bool) -> Void)?
    public var onBufferedAmountLow: (() -> Void)?
    /// Called once, after which nothing follows.
    public var onClose: (() -> Void)?

    /// Messages are sent in order until the peer has acknowledged the channel (RFC 8832, section 6).
    var isAcknowledged: Bool
    var reset = ResetProgress()
    weak var association: SCTPAssociation?

    /// How far the closing of a channel is: both directions are reset (RFC 8831, section 6.7).
    struct ResetProgress {
        var isRequested = false
        var isOutgoingDone = false
        var isIncomingDone = false
        /// When the channel counts as closed without the peer's answer.
        var deadline: MonotonicTime?
    }

    init(_ parameters: DCEPMessage.Open, negotiatedID: UInt16? = nil) {
        label = parameters.label
        self.protocol = parameters.protocol
        ordered = parameters.ordered
        maxRetransmits = parameters.maxRetransmits
        maxPacketLifetime = parameters.maxPacketLifetime
        isNegotiated = negotiatedID != nil
        isAcknowledged = negotiatedID != nil
        id = negotiatedID
    }

    var parameters: DCEPMessage.Open {
        DCEPMessage.Open(
            label: label, protocol: self.protocol, ordered: ordered, maxRetransmits: maxRetransmits,
            maxPacketLifetime: maxPacketLifetime)
    }

    /// The largest message that can be sent, in bytes; what the peer says of itself counts once its description is
    /// known.
    public var maxMessageSize: Int { association?.maxMessageSize ?? SCTPAssociation.maxSendSize }

    /// Sends a binary message.
    public func send(binary bytes: [UInt8]) throws(DataChannelError) {
        try send(bytes, ppid: bytes.isEmpty ? DataChannelPPID.emptyBinary : DataChannelPPID.binary)
    }

    /// Sends a text message.
    public func send(text: String) throws(DataChannelError) {
        let bytes = Array(text.utf8)
        try send(bytes, ppid: bytes.isEmpty ? DataChannelPPID.emptyString : DataChannelPPID.string)
    }

    private func send(_ bytes: [UInt8], ppid: UInt32) throws(DataChannelError) {
        guard readyState == .open, let association else { throw .notOpen(label: label, state: readyState) }
        // SCTP has no empty messages: a zero byte stands for them (RFC 8831, section 6.6).
        try association.send(bytes.isEmpty ? [0] : bytes, ppid: ppid, on: self)
    }

    /// Closed for good. Callbacks often refer to the channel, so they go as well.
    func retire() {
        readyState = .closed
        association = nil
        bufferedAmount = 0
        onOpen = nil
        onMessage = nil
        onBufferedAmountLow = nil
        onClose = nil
    }

    /// Closes the channel, once what was sent has left. ``onClose`` follows.
    public func close() {
        association?.close(self)
    }
}

/// Why a message could not be sent.
public enum DataChannelError: Error, Sendable, Equatable, CustomStringConvertible {
    case notOpen(label: String, state: DataChannel.State)
    /// Bytes.
    case messageTooLarge(label: String, size: Int, limit: Int)
    /// Bytes.
    case bufferFull(label: String, limit: Int)

    public var description: String {
        switch self {
        case .notOpen(let label, let state):
            "data channel \"\(label)\" is \(state.rawValue), not open"
        case .messageTooLarge(let label, let size, let limit):
            "a message of \(size) bytes is too large for data channel \"\(label)\": the peer takes at most \(limit)"
        case .bufferFull(let label, let limit):
            "data channel \"\(label)\" has \(limit) bytes waiting; send when onBufferedAmountLow is called"
        }
    }
}
