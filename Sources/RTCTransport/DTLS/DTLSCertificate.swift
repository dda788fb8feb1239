

/// A certificate for DTLS: ECDSA on P-256, self-signed, made at run time.
public final class DTLSCertificate: Sendable {
    /// The SHA-256 fingerprint as in `a=fingerprint:sha-256` of a session description: `AA:BB:…`.
    public let fingerprint: String

    private init(fingerprint: String) { self.fingerprint = fingerprint }

    public static func generate() throws(DTLSError) -> DTLSCertificate {
        DTLSCertificate(fingerprint: "")
    }
}
