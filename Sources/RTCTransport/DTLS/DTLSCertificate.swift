import COpenSSL
import Glibc

/// A certificate for DTLS with its private key: ECDSA on P-256, self-signed, made at run time and never stored.
// @unchecked: set once in `init` and only read afterwards; OpenSSL counts references to both objects atomically.
public final class DTLSCertificate: @unchecked Sendable {
    /// The SHA-256 fingerprint as in `a=fingerprint:sha-256` of a session description: `AA:BB:…`.
    public let fingerprint: String

    let certificate: OpaquePointer
    let key: OpaquePointer

    private init(certificate: OpaquePointer, key: OpaquePointer, fingerprint: String) {
        self.certificate = certificate
        self.key = key
        self.fingerprint = fingerprint
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// Makes a key and a certificate that is valid from yesterday, for peers whose clock is late, for 30 days.
    public static func generate() throws(DTLSError) -> DTLSCertificate {
        let key = try generateKey()
        guard let certificate = X509_new() else {
            EVP_PKEY_free(key)
            throw DTLSError("making a certificate")
        }
        guard fill(certificate, key: key),
            let fingerprint = DTLSFingerprint(of: certificate, algorithm: "sha-256")
        else {
            let error = DTLSError("making a certificate")
            X509_free(certificate)
            EVP_PKEY_free(key)
            throw error
        }
        return DTLSCertificate(certificate: certificate, key: key, fingerprint: fingerprint.value)
    }

    private static func generateKey() throws(DTLSError) -> OpaquePointer {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw DTLSError("making a P-256 key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else { throw DTLSError("making a P-256 key") }
        return key
    }

    private static func fill(_ certificate: OpaquePointer, key: OpaquePointer) -> Bool {
        // RFC 5280: version 3 is 2, serial numbers are positive.
        var random: UInt64 = 0
        guard withUnsafeMutableBytes(of: &random, { RAND_bytes($0.baseAddress, Int32($0.count)) }) == 1,
            X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), random >> 1 | 1) == 1
        else { return false }
        let day = 24 * 60 * 60
        guard X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil,
            X509_gmtime_adj(X509_getm_notAfter(certificate), 30 * day) != nil,
            X509_set_pubkey(certificate, key) == 1, let name = X509_get_subject_name(certificate)
        else { return false }
        let isNamed = Array("agentctl".utf8).withUnsafeBufferPointer {
            X509_NAME_add_entry_by_NID(name, NID_commonName, utf8String, $0.baseAddress, Int32($0.count), -1, 0)
        }
        guard isNamed == 1, X509_set_issuer_name(certificate, name) == 1 else { return false }
        return X509_sign(certificate, key, EVP_sha256()) > 0
    }

    /// `MBSTRING_UTF8` of `openssl/asn1.h`, a macro that is not imported.
    private static let utf8String: Int32 = 0x1000
}
