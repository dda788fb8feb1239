/// The state of an SCTP association.
enum SCTPState: Sendable, Equatable {
    case new
    case connecting
    case connected
    case failed(reason: String)
    /// Closed by the peer, or by ``SCTPAssociation/close()``.
    case closed
}
