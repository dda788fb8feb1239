import LiveKitProtocol

/// The rules by which data packets pass through the server. Pure.
enum DataRouting {
    /// Who sent a packet, as the server knows it.
    struct Sender: Sendable, Equatable {
        var identity: String
        var sid: String
        var isAgent: Bool
    }

    /// What is passed on of a packet: under the sender's real name, whatever it claims, except that an agent may speak
    /// on behalf of a user in the header of a text stream or in a chat message.
    static func forwarded(_ packet: DataPacket, from sender: Sender, reliable: Bool) -> DataPacket {
        var result = packet
        // The channel that a packet came in on tells its kind; the field is not to be trusted.
        result.kind = reliable ? .reliable : .lossy
        result.participantSid = sender.sid
        let claimed = packet.participantIdentity
        let isOnBehalf = sender.isAgent && !claimed.isEmpty && claimed != sender.identity
        result.participantIdentity = sender.identity
        switch packet.value {
        case .streamHeader(var header):
            guard isOnBehalf, case .textHeader(var text)? = header.contentHeader else { break }
            text.generated = true
            header.contentHeader = .textHeader(text)
            result.value = .streamHeader(header)
            result.participantIdentity = claimed
        case .chatMessage(var message):
            guard isOnBehalf else { break }
            message.generated = true
            result.value = .chatMessage(message)
            result.participantIdentity = claimed
        case .user(var user):
            user.participantIdentity = sender.identity
            user.participantSid = sender.sid
            result.value = .user(user)
        default:
            break
        }
        return result
    }

    /// Whether a packet is for that participant; without destinations it is for all but its sender.
    static func isAddressed(_ packet: DataPacket, to identity: String, sid: String) -> Bool {
        if case .user(let user)? = packet.value {
            // Where older clients put the destinations.
            let identities = packet.destinationIdentities + user.destinationIdentities
            if identities.isEmpty && user.destinationSids.isEmpty { return true }
            return identities.contains(identity) || user.destinationSids.contains(sid)
        }
        return packet.destinationIdentities.isEmpty || packet.destinationIdentities.contains(identity)
    }
}

/// Drops reliable packets that were seen already (a sender repeats some after it resumed). Pure.
struct SequenceFilter: Sendable, Equatable {
    /// The highest number seen, 0 before the first.
    private(set) var last: UInt32 = 0

    /// Whether a packet of that number is new; 0 is a packet without a number.
    mutating func accepts(_ sequence: UInt32) -> Bool {
        guard sequence != 0 else { return true }
        guard sequence > last else { return false }
        last = sequence
        return true
    }
}

/// Reliable packets that a participant was sent lately, for the replay after a resume. Pure, bounded.
struct ReplayBuffer: Sendable {
    private struct Entry: Sendable {
        var senderSid: String
        var sequence: UInt32
        var bytes: [UInt8]
    }

    private var entries: [Entry] = []
    private var size = 0
    /// Bytes kept at most.
    static let limit = 1 << 20

    mutating func append(_ bytes: [UInt8], senderSid: String, sequence: UInt32) {
        guard sequence != 0 else { return }
        entries.append(Entry(senderSid: senderSid, sequence: sequence, bytes: bytes))
        size += bytes.count
        while size > Self.limit || entries.count > 1024, !entries.isEmpty { size -= entries.removeFirst().bytes.count }
    }

    /// What the participant has not seen, given the last number that it saw of each sender.
    func missed(after lastSeen: [String: UInt32]) -> [[UInt8]] {
        entries.filter { $0.sequence > lastSeen[$0.senderSid] ?? 0 }.map(\.bytes)
    }
}
