import LiveKitProtocol

/// The receiving half of LiveKit's data: drops reliable packets that came before, and holds what arrives before the
/// session is connected. Packets of participants that are not known yet are delivered like any other. Pure.
struct DataInbox: Sendable {
    /// Packets that arrived early and did not fit.
    private(set) var droppedEarly = 0

    /// The last sequence number of each sender, by its sid: a participant that rejoins starts anew.
    private var lastSequences: [String: UInt32] = [:]
    /// The senders in the order in which they were first seen.
    private var senders: [String] = []
    private var early: [DataPacket] = []
    private var earlyBytes = 0
    private var isOpen = false

    private static let maximumEarly = 512
    private static let maximumEarlyBytes = 4 << 20
    private static let maximumSenders = 1024

    /// The packets to deliver now.
    mutating func receive(_ bytes: [UInt8]) throws(ProtobufError) -> [DataPacket] {
        let packet = try DataPacket(serializedBytes: bytes)
        // 0 is a packet without a number.
        if packet.sequence > 0, !packet.participantSid.isEmpty {
            guard isNew(packet.sequence, of: packet.participantSid) else { return [] }
        }
        guard !isOpen else { return [packet] }
        guard early.count < Self.maximumEarly, earlyBytes + bytes.count <= Self.maximumEarlyBytes else {
            droppedEarly += 1
            return []
        }
        early.append(packet)
        earlyBytes += bytes.count
        return []
    }

    private mutating func isNew(_ sequence: UInt32, of sender: String) -> Bool {
        if let last = lastSequences[sender] {
            guard sequence > last else { return false }
        } else {
            if senders.count >= Self.maximumSenders { lastSequences[senders.removeFirst()] = nil }
            senders.append(sender)
        }
        lastSequences[sender] = sequence
        return true
    }

    /// The last number of each sender, as a resume tells it to the server.
    var lastReceived: [(sender: String, sequence: UInt32)] {
        lastSequences.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Another session begins: what its senders number begins anew, under sids of their own.
    mutating func restart() {
        lastSequences = [:]
        senders = []
    }

    /// The session is connected: delivers what waited.
    mutating func open() -> [DataPacket] {
        isOpen = true
        earlyBytes = 0
        defer { early = [] }
        return early
    }
}
