import COpenSSL

/// Values of `openssl/ssl.h` that are function-like macros there, which Swift does not import.
enum DTLSControl {
    static let setMTU: Int32 = 17
    static let setGroupsList: Int32 = 92
    static let setLinkMTU: Int32 = 120
    static let getTimeout: Int32 = 73
    static let handleTimeout: Int32 = 74
    static let setMinimumVersion: Int32 = 123
    static let version12 = 0xFEFD
    static let noQueryMTU: UInt64 = 1 << 12
    static let noTicket: UInt64 = 1 << 14
    static let noRenegotiation: UInt64 = 1 << 30
}

/// Makes the OpenSSL context of a ``DTLSTransport``.
enum DTLSContext {
    /// Forward secrecy and authenticated encryption; the CBC suites are for peers with nothing better (RFC 8827).
    static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
        "ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA",
    ].joined(separator: ":")

    /// - Parameters:
    ///   - verify: called with `verifyArgument` to judge the peer's certificate.
    /// - Returns: a context that the caller frees.
    static func make(
        certificate: DTLSCertificate, profiles: [SRTPProfile],
        verify: @escaping @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32,
        verifyArgument: UnsafeMutableRawPointer
    ) throws(DTLSError) -> OpaquePointer {
        guard let context = SSL_CTX_new(DTLS_method()) else { throw DTLSError("making a DTLS context") }
        let isConfigured =
            SSL_CTX_ctrl(context, DTLSControl.setMinimumVersion, DTLSControl.version12, nil) == 1
            && SSL_CTX_set_cipher_list(context, ciphers) == 1
            && setGroups(context, "X25519:P-256:P-384")
            && SSL_CTX_use_certificate(context, certificate.certificate) == 1
            && SSL_CTX_use_PrivateKey(context, certificate.key) == 1
            // Returns 0 on success, unlike its neighbours.
            && SSL_CTX_set_tlsext_use_srtp(context, profiles.map(\.openSSLName).joined(separator: ":")) == 0
        guard isConfigured else {
            let error = DTLSError("configuring DTLS")
            SSL_CTX_free(context)
            throw error
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(context, verify, verifyArgument)
        // No tickets, no renegotiation, and the MTU is told, not asked for.
        SSL_CTX_set_options(
            context, DTLSControl.noTicket | DTLSControl.noRenegotiation | DTLSControl.noQueryMTU)
        return context
    }

    private static func setGroups(_ context: OpaquePointer, _ groups: String) -> Bool {
        var groups = Array(groups.utf8CString)
        return groups.withUnsafeMutableBytes {
            SSL_CTX_ctrl(context, DTLSControl.setGroupsList, 0, $0.baseAddress) == 1
        }
    }
}

extension SRTPProfile {
    /// The name in `SSL_CTX_set_tlsext_use_srtp`.
    fileprivate var openSSLName: String {
        switch self {
        case .aes128CMHMACSHA1: "SRTP_AES128_CM_SHA1_80"
        case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
        case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
        }
    }
}
