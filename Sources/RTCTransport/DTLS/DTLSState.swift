/// The state of the DTLS association.
public enum DTLSState: Sendable, Equatable {
    case new
    case connecting
    /// The handshake is complete and the peer's certificate is the announced one.
    case connected
    case failed(reason: String)
    case closed
}

/// Which end of the DTLS handshake this is (RFC 8842, `a=setup`).
public enum DTLSRole: Sendable, Equatable {
    /// Sends the ClientHello: `a=setup:active`.
    case client
    /// Waits for it: `a=setup:passive`.
    case server
}
