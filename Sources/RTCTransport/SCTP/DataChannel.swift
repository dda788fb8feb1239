/// A data channel (RFC 8831, W3C `RTCDataChannel`), confined to the loop.
public final class DataChannel {
    public enum State: String, Sendable { case connecting, open, closing, closed }

    public let label: String
    /// The subprotocol; usually empty.
    public let `protocol`: String
    /// The SCTP stream; nil until the DTLS role is known.
    public private(set) var id: UInt16?
    public let ordered: Bool
    public let maxRetransmits: UInt16?
    /// Milliseconds.
    public let maxPacketLifetime: UInt16?
    public let isNegotiated: Bool
    public private(set) var readyState = State.connecting
    /// Bytes queued and not yet handed to SCTP.
    public private(set) var bufferedAmount = 0
    /// ``onBufferedAmountLow`` is called when ``bufferedAmount`` falls to this many bytes or fewer.
    public var bufferedAmountLowThreshold = 0

    public var onOpen: (() -> Void)?
    public var onMessage: (([UInt8], _ isBinary: Bool) -> Void)?
    public var onBufferedAmountLow: (() -> Void)?
    public var onClose: (() -> Void)?

    init(label: String, protocol: String, ordered: Bool, maxRetransmits: UInt16?, maxPacketLifetime: UInt16?, negotiatedID: UInt16?) {
        self.label = label
        self.protocol = `protocol`
        self.ordered = ordered
        self.maxRetransmits = maxRetransmits
        self.maxPacketLifetime = maxPacketLifetime
        isNegotiated = negotiatedID != nil
        id = negotiatedID
    }

    public func send(binary bytes: [UInt8]) throws(DataChannelError) {}
    public func send(text: String) throws(DataChannelError) {}
    /// Closes once what was sent has been delivered.
    public func close() {}
}

/// Why a message could not be sent.
public enum DataChannelError: Error, Sendable, Equatable {
    case notOpen(label: String, state: DataChannel.State)
    /// Bytes.
    case messageTooLarge(label: String, size: Int, limit: Int)
    /// Bytes.
    case bufferFull(label: String, limit: Int)
}
