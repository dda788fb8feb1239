import CUsrsctp

/// A notification of usrsctp, read from its bytes.
enum SCTPNotification: Equatable {
    /// The association is up, with these numbers of streams.
    case up(outbound: UInt16, inbound: UInt16)
    /// The association is gone.
    case lost(reason: String)
    case shutDown
    /// The streams that the peer does not send on any more.
    case incomingReset([UInt16])
    /// The streams that this end does not send on any more.
    case outgoingReset([UInt16])
    case resetRefused([UInt16])
    /// The rest of a message will not come.
    case abandoned(stream: UInt16)

    /// Nil for notifications that are of no interest.
    init?(_ bytes: [UInt8]) {
        func short(_ offset: Int) -> UInt16 {
            offset + 2 <= bytes.count ? UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 : 0
        }
        guard bytes.count >= 8 else { return nil }
        let flags = Int32(short(2))
        switch Int32(short(0)) {
        case SCTP_ASSOC_CHANGE:
            switch Int32(short(8)) {
            case SCTP_COMM_UP: self = .up(outbound: short(12), inbound: short(14))
            case SCTP_COMM_LOST: self = .lost(reason: "the SCTP association was aborted or timed out")
            case SCTP_RESTART: self = .lost(reason: "the peer restarted the SCTP association")
            case SCTP_CANT_STR_ASSOC: self = .lost(reason: "the peer did not answer the SCTP handshake")
            case SCTP_SHUTDOWN_COMP: self = .shutDown
            default: return nil
            }
        case SCTP_SHUTDOWN_EVENT:
            self = .shutDown
        case SCTP_STREAM_RESET_EVENT:
            let streams = stride(from: 12, to: bytes.count - 1, by: 2).map(short)
            if flags & (SCTP_STREAM_RESET_DENIED | SCTP_STREAM_RESET_FAILED) != 0 {
                self = .resetRefused(streams)
            } else if flags & SCTP_STREAM_RESET_INCOMING_SSN != 0 {
                self = .incomingReset(streams)
            } else if flags & SCTP_STREAM_RESET_OUTGOING_SSN != 0 {
                self = .outgoingReset(streams)
            } else {
                return nil
            }
        case SCTP_PARTIAL_DELIVERY_EVENT:
            self = .abandoned(stream: short(12 + 0))
        default:
            return nil
        }
    }
}
