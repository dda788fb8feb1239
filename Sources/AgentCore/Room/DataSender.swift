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

/// The sending half of LiveKit's data: numbers reliable packets in the order in which they go out, and holds them
/// while the channel is closed or full. Confined to the loop.
final class DataSender {
    /// Bytes of one encoded packet; above it some peers abort the whole SCTP association.
    static let maximumPacketSize = 64_000
    /// Bytes that may wait here.
    static let maximumQueued = 4 << 20
    /// Bytes that may wait in the channel.
    private static let highWater = 1 << 20
    private static let lowWater = 64 << 10

    /// The queue is short again after it was long.
    var onDrained: (() -> Void)?
    private var channel: DataChannel?
    private let isReliable: Bool
    private var nextSequence: UInt32 = 1
    private var queue: [[UInt8]] = []
    private var queuedBytes = 0
    private var wasFull = false

    init(isReliable: Bool) {
        self.isReliable = isReliable
    }

    func use(_ channel: DataChannel) {
        self.channel = channel
        channel.bufferedAmountLowThreshold = Self.lowWater
        channel.onOpen = { [weak self] in self?.flush() }
        channel.onBufferedAmountLow = { [weak self] in self?.flush() }
    }

    var bufferedAmount: Int { queuedBytes + (channel?.bufferedAmount ?? 0) }

    /// Numbers, encodes and sends one packet, or queues it.
    func send(_ packet: DataPacket) throws(DataSendError) {
        var packet = packet
        if isReliable { packet.sequence = nextSequence }
        let bytes = packet.serializedBytes()
        guard bytes.count <= Self.maximumPacketSize else {
            throw .tooLarge(size: bytes.count, limit: Self.maximumPacketSize)
        }
        guard queuedBytes + bytes.count <= Self.maximumQueued else {
            wasFull = true
            throw .full(limit: Self.maximumQueued)
        }
        // The number is used up only by a packet that is taken.
        if isReliable { nextSequence &+= 1 }
        queue.append(bytes)
        queuedBytes += bytes.count
        flush()
    }

    private func flush() {
        guard let channel, channel.readyState == .open else { return }
        var sent = 0
        while sent < queue.count, channel.bufferedAmount < Self.highWater {
            do {
                try channel.send(binary: queue[sent])
            } catch {
                break
            }
            queuedBytes -= queue[sent].count
            sent += 1
        }
        if sent > 0 { queue.removeFirst(sent) }
        if wasFull, queuedBytes < Self.maximumQueued / 2 {
            wasFull = false
            onDrained?()
        }
    }
}

/// The receiving half: drops reliable packets that came before, and holds what arrives before the session is
/// connected. Pure.
struct DataInbox: Sendable {
    private var lastSequences: [String: UInt32] = [:]
    private var early: [DataPacket] = []
    private var isOpen = false

    private static let maximumEarly = 512
    private static let maximumSenders = 1024

    /// The packets to deliver now.
    mutating func receive(_ bytes: [UInt8]) throws(ProtobufError) -> [DataPacket] {
        let packet = try DataPacket(serializedBytes: bytes)
        if packet.sequence > 0, !packet.participantSid.isEmpty {
            if let last = lastSequences[packet.participantSid], packet.sequence <= last { return [] }
            if lastSequences.count >= Self.maximumSenders { lastSequences.removeAll() }
            lastSequences[packet.participantSid] = packet.sequence
        }
        guard !isOpen else { return [packet] }
        if early.count < Self.maximumEarly { early.append(packet) }
        return []
    }

    /// The session is connected: delivers what waited.
    mutating func open() -> [DataPacket] {
        isOpen = true
        defer { early = [] }
        return early
    }
}
