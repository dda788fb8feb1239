import COpenSSL

/// An `a=fingerprint` of a session description (RFC 8122).
public struct DTLSFingerprint: Sendable, Equatable, CustomStringConvertible {
    /// `sha-256` and so on, in lower case.
    public let algorithm: String
    /// Colon-separated hexadecimal bytes, in upper case.
    public let value: String

    public init(algorithm: String, value: String) {
        self.algorithm = algorithm.lowercased()
        self.value = value.uppercased()
    }

    /// The fingerprint of a certificate; nil for an algorithm that is unknown or as weak as MD5.
    init?(of certificate: OpaquePointer, algorithm: String) {
        let digest: OpaquePointer?
        switch algorithm {
        case "sha-1": digest = EVP_sha1()
        case "sha-224": digest = EVP_sha224()
        case "sha-256": digest = EVP_sha256()
        case "sha-384": digest = EVP_sha384()
        case "sha-512": digest = EVP_sha512()
        default: return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, digest, &bytes, &count) == 1, count > 0 else { return nil }
        self.init(algorithm: algorithm, value: Self.hex(bytes.prefix(Int(count))))
    }

    public var description: String { "\(algorithm) \(value)" }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        var text = String.UnicodeScalarView()
        for byte in bytes {
            if !text.isEmpty { text.append(":") }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(text)
    }
}

extension [DTLSFingerprint] {
    /// How strong each algorithm is; those not listed are not understood.
    private static var strength: [String: Int] {
        ["sha-1": 1, "sha-224": 2, "sha-256": 3, "sha-384": 4, "sha-512": 5]
    }

    /// Whether the certificate is the announced one: of the strongest algorithm that is understood, some fingerprint
    /// matches (RFC 8122, section 5).
    func match(_ certificate: OpaquePointer) -> Bool {
        func strength(_ fingerprint: DTLSFingerprint) -> Int { Self.strength[fingerprint.algorithm] ?? 0 }
        let known = filter { strength($0) > 0 }
        guard let best = known.max(by: { strength($0) < strength($1) }),
            let actual = DTLSFingerprint(of: certificate, algorithm: best.algorithm)
        else { return false }
        return known.contains(actual)
    }
}
