import LoopCore
import Synchronization

/// A received message, or a part of one.
struct SCTPFragment: Sendable, Equatable {
    var stream: UInt16
    /// Payload protocol identifier.
    var ppid: UInt32
    var isUnordered: Bool
    var isLast: Bool
    var bytes: [UInt8]
}

/// What usrsctp tells of a socket.
enum SCTPSocketEvent: Sendable {
    case fragment(SCTPFragment)
    /// A `union sctp_notification`.
    case notification([UInt8])
    case ended
}

/// What usrsctp's callbacks leave for an association to collect on its loop.
// @unchecked: `owner` is only touched on the loop; everything else that changes is behind `contents`.
final class SCTPMailbox: @unchecked Sendable {
    /// Packets beyond this many are lost, as on a full link. Only a stuck loop gets there.
    static let maxPackets = 1024

    private struct Contents {
        var packets: [[UInt8]] = []
        var events: [SCTPSocketEvent] = []
        /// Whether the owner is inside of usrsctp and collects as soon as it returns.
        var isAttended = false
        var isWaking = false
    }

    private let loop: EventLoop
    private let contents = Mutex(Contents())
    private weak var owner: SCTPAssociation?

    init(loop: EventLoop) { self.loop = loop }

    /// Call on the loop.
    func setOwner(_ owner: SCTPAssociation?) { self.owner = owner }

    // MARK: usrsctp's side, on any thread

    func put(packet: [UInt8]) {
        put { contents in
            if contents.packets.count < Self.maxPackets { contents.packets.append(packet) }
        }
    }

    func put(event: SCTPSocketEvent) {
        put { $0.events.append(event) }
    }

    private func put(_ change: (inout Contents) -> Void) {
        let mustWake = contents.withLock { contents in
            change(&contents)
            guard !contents.isAttended, !contents.isWaking else { return false }
            contents.isWaking = true
            return true
        }
        if mustWake { wake() }
    }

    private func wake() {
        loop.execute { [self] in
            contents.withLock { $0.isWaking = false }
            owner?.collect()
        }
    }

    // MARK: The association's side, on the loop

    func attend() {
        contents.withLock { $0.isAttended = true }
    }

    func leave() {
        contents.withLock { $0.isAttended = false }
    }

    func takePackets() -> [[UInt8]] {
        contents.withLock { contents in
            defer { contents.packets = [] }
            return contents.packets
        }
    }

    func takeEvents() -> [SCTPSocketEvent] {
        contents.withLock { contents in
            defer { contents.events = [] }
            return contents.events
        }
    }

    /// Has the owner collect on the loop's next turn if events are waiting.
    func wakeIfNeeded() {
        let mustWake = contents.withLock { contents in
            guard !contents.events.isEmpty, !contents.isWaking else { return false }
            contents.isWaking = true
            return true
        }
        if mustWake { wake() }
    }
}
