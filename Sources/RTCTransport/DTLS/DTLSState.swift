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

/// An `a=fingerprint` of a session description (RFC 8122).
public struct DTLSFingerprint: Sendable, Equatable {
    /// `sha-256` and so on, in lower case.
    public var algorithm: String
    /// Colon-separated hexadecimal bytes.
    public var value: String

    public init(algorithm: String, value: String) {
        self.algorithm = algorithm.lowercased()
        self.value = value
    }
}
