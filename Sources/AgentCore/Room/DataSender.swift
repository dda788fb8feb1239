import LiveKitProtocol
import RTCTransport

/// Why a packet was not taken.
public enum DataSendError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Bytes of the encoded packet.
    case tooLarge(size: Int, limit: Int)
    /// More waits than may; try again when the room says that it drained.
    case full(limit: Int)

    public var description: String {
        switch self {
        case .tooLarge(let size, let limit): "the packet has \(size) bytes, the limit is \(limit)"
        case .full(let limit): "more than \(limit) bytes wait to be sent"
        }
    }
}

/// What a ``DataSender`` needs of a data channel.
protocol DataSendChannel: AnyObject {
    var readyState: DataChannel.State { get }
    var bufferedAmount: Int { get }
    var bufferedAmountLowThreshold: Int { get set }
    var maxMessageSize: Int { get }
    var onOpen: (() -> Void)? { get set }
    var onBufferedAmountLow: (() -> Void)? { get set }
    func send(binary bytes: [UInt8]) throws(DataChannelError)
}

extension DataChannel: DataSendChannel {}

/// The sending half of LiveKit's data: numbers reliable packets in the order in which they go out, and holds them
/// while the channel is closed or full. Lossy packets are worth less the older they are: few are held, and the oldest
/// make room for new ones. Confined to the loop.
final class DataSender {
    /// Bytes of one encoded packet; above it some peers abort the whole SCTP association.
    static let maximumPacketSize = 64_000

    /// Bytes that may wait, here and in the channel.
    private struct Limits {
        var queued: Int
        var highWater: Int
        var lowWater: Int

        static let reliable = Limits(queued: 4 << 20, highWater: 1 << 20, lowWater: 64 << 10)
        static let lossy = Limits(queued: 64 << 10, highWater: 256 << 10, lowWater: 8 << 10)
    }

    /// The queue is short again after a packet was refused as ``DataSendError/full(limit:)``. Never called from within
    /// ``send(_:)``.
    var onDrained: (() -> Void)?
    /// A packet that was taken before the peer's limit was known is too large for it, and was dropped.
    var onDropped: ((DataSendError) -> Void)?
    /// Lossy packets that newer ones pushed out.
    private(set) var droppedPackets = 0

    /// A packet that waits or went out; 0 is no number.
    private struct Encoded {
        var sequence: UInt32
        var bytes: [UInt8]
    }

    private var channel: (any DataSendChannel)?
    private let isReliable: Bool
    private let limits: Limits
    private var nextSequence: UInt32 = 1
    private var queue: [Encoded] = []
    private var queuedBytes = 0
    private var wasFull = false
    /// Reliable packets that went out, for a server that lost some with the connection.
    private var history: [Encoded] = []
    private var historyBytes = 0

    /// Bytes that are kept for that: more than the channel ever holds.
    private static let historyLimit = 1_310_720

    init(isReliable: Bool) {
        self.isReliable = isReliable
        limits = isReliable ? .reliable : .lossy
    }

    /// Sends on that channel from now on; what waits goes there too.
    func use(_ channel: any DataSendChannel) {
        self.channel = channel
        channel.bufferedAmountLowThreshold = limits.lowWater
        channel.onOpen = { [weak self] in self?.channelIsReady() }
        channel.onBufferedAmountLow = { [weak self] in self?.channelIsReady() }
    }

    var bufferedAmount: Int { queuedBytes + (channel?.bufferedAmount ?? 0) }

    /// Bytes that one packet may have.
    private var packetLimit: Int {
        guard let channel, channel.readyState == .open else { return Self.maximumPacketSize }
        return min(Self.maximumPacketSize, channel.maxMessageSize)
    }

    /// Numbers, encodes and sends one packet, or queues it.
    func send(_ packet: DataPacket) throws(DataSendError) {
        var packet = packet
        if isReliable { packet.sequence = nextSequence }
        let bytes = packet.serializedBytes()
        let limit = packetLimit
        guard bytes.count <= limit else { throw .tooLarge(size: bytes.count, limit: limit) }
        if queuedBytes + bytes.count > limits.queued {
            guard !isReliable else {
                wasFull = true
                throw .full(limit: limits.queued)
            }
            makeRoom(for: bytes.count)
        }
        // The number is used up only by a packet that is taken.
        if isReliable { nextSequence &+= 1 }
        queue.append(Encoded(sequence: packet.sequence, bytes: bytes))
        queuedBytes += bytes.count
        flush()
    }

    /// Sends those again that the server does not have, before anything newer.
    func replay(after sequence: UInt32) {
        let missing = history.filter { $0.sequence > sequence }
        guard !missing.isEmpty else { return }
        queue.insert(contentsOf: missing, at: 0)
        queuedBytes += missing.reduce(0) { $0 + $1.bytes.count }
        history.removeAll { $0.sequence > sequence }
        historyBytes = history.reduce(0) { $0 + $1.bytes.count }
        flush()
    }

    /// Another session: numbers begin at 1 with what still waits, and what went out is over.
    func restart() {
        channel = nil
        history = []
        historyBytes = 0
        nextSequence = 1
        queue = queue.map { waiting in
            guard isReliable, var packet = try? DataPacket(serializedBytes: waiting.bytes) else { return waiting }
            packet.sequence = nextSequence
            nextSequence &+= 1
            return Encoded(sequence: packet.sequence, bytes: packet.serializedBytes())
        }
        queuedBytes = queue.reduce(0) { $0 + $1.bytes.count }
    }

    private func remember(_ packet: Encoded) {
        guard isReliable else { return }
        history.append(packet)
        historyBytes += packet.bytes.count
        // Forgotten in batches: moving the whole list for each packet would be slow.
        guard historyBytes > 2 * Self.historyLimit else { return }
        var count = 0
        while historyBytes > Self.historyLimit, count < history.count {
            historyBytes -= history[count].bytes.count
            count += 1
        }
        history.removeFirst(count)
    }

    private func makeRoom(for size: Int) {
        var count = 0
        while count < queue.count, queuedBytes + size > limits.queued {
            queuedBytes -= queue[count].bytes.count
            count += 1
        }
        queue.removeFirst(count)
        droppedPackets += count
    }

    private func channelIsReady() {
        flush()
        guard wasFull, queuedBytes < limits.queued / 2 else { return }
        wasFull = false
        onDrained?()
    }

    private func flush() {
        guard let channel, channel.readyState == .open else { return }
        var sent = 0
        var dropped: [DataSendError] = []
        while sent < queue.count, channel.bufferedAmount < limits.highWater {
            let bytes = queue[sent].bytes
            do throws(DataChannelError) {
                try channel.send(binary: bytes)
                remember(queue[sent])
            } catch {
                // Kept for later, unless there is no later for it: it would hold up all that follow.
                guard case .messageTooLarge(_, let size, let limit) = error else { break }
                dropped.append(.tooLarge(size: size, limit: limit))
            }
            queuedBytes -= bytes.count
            sent += 1
        }
        if sent > 0 { queue.removeFirst(sent) }
        for error in dropped { onDropped?(error) }
    }
}
