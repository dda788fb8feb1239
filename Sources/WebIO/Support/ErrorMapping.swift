import CGLib
import CSoup

extension WebError {
    /// What a GLib, GIO or libsoup error means. The error is freed.
    /// - Parameters:
    ///   - certificate: the checks that the peer's certificate failed.
    ///   - during: what was going on, for a connection that was closed ("before it answered").
    init(
        taking error: UnsafeMutablePointer<GError>?, url: WebURL, certificate: GTlsCertificateFlags?, during: String
    ) {
        guard let error else {
            self = .other("the connection with \(url.host) failed for an unknown reason")
            return
        }
        let domain = error.pointee.domain
        let code = UInt32(bitPattern: error.pointee.code)
        let message = takeMessage(error)
        if domain == g_resolver_error_quark() {
            self = .cannotResolve(host: url.host)
        } else if domain == g_tls_error_quark() {
            self = Self.tlsError(code: code, message: message, url: url, certificate: certificate, during: during)
        } else if domain == g_io_error_quark() {
            self = Self.ioError(code: code, message: message, url: url, during: during)
        } else if domain == soup_session_error_quark() {
            let hint = url.isSecure ? "" : "; if the port speaks TLS, use https://"
            self = .malformed("\(url.host) sent an answer that is not HTTP (\(printable(message)))\(hint)")
        } else {
            self = .other("the connection with \(url.host) failed (\(printable(message)))")
        }
    }

    private static func tlsError(
        code: UInt32, message: String, url: WebURL, certificate: GTlsCertificateFlags?, during: String
    ) -> WebError {
        if let certificate, certificate.rawValue != 0 {
            return .tls(host: url.host, reason: certificateProblems(certificate).joined(separator: "; "))
        }
        // GnuTLS reports an answer in plain text as a packet that it does not expect.
        if code == G_TLS_ERROR_NOT_TLS.rawValue || message.contains("unexpected TLS packet") {
            return .tls(
                host: url.host,
                reason: "port \(url.port) does not speak TLS: check the port, or use ws:// or http://")
        }
        switch code {
        case G_TLS_ERROR_EOF.rawValue:
            return .connectionClosed("\(during) (\(url.host))")
        case G_TLS_ERROR_UNAVAILABLE.rawValue:
            return .tls(host: url.host, reason: "no TLS support is installed: install the package glib-networking")
        default:
            return .tls(host: url.host, reason: printable(message))
        }
    }

    private static func ioError(code: UInt32, message: String, url: WebURL, during: String) -> WebError {
        switch code {
        case G_IO_ERROR_CONNECTION_REFUSED.rawValue:
            .connectionRefused(host: url.host, port: url.port)
        case G_IO_ERROR_HOST_UNREACHABLE.rawValue, G_IO_ERROR_NETWORK_UNREACHABLE.rawValue,
            G_IO_ERROR_PERMISSION_DENIED.rawValue:
            .unreachable(host: url.host, port: url.port, reason: printable(message))
        case G_IO_ERROR_HOST_NOT_FOUND.rawValue:
            .cannotResolve(host: url.host)
        case G_IO_ERROR_TIMED_OUT.rawValue:
            .unreachable(host: url.host, port: url.port, reason: "no answer")
        case G_IO_ERROR_PROXY_FAILED.rawValue, G_IO_ERROR_PROXY_AUTH_FAILED.rawValue,
            G_IO_ERROR_PROXY_NEED_AUTH.rawValue, G_IO_ERROR_PROXY_NOT_ALLOWED.rawValue:
            .proxy(reason: printable(message))
        case G_IO_ERROR_CANCELLED.rawValue:
            .cancelled
        case G_IO_ERROR_BROKEN_PIPE.rawValue, G_IO_ERROR_PARTIAL_INPUT.rawValue, G_IO_ERROR_CLOSED.rawValue,
            G_IO_ERROR_NOT_CONNECTED.rawValue:
            .connectionClosed("\(during) (\(url.host))")
        default:
            .other("the connection with \(url.host) failed (\(printable(message)))")
        }
    }
}

/// The failed checks in words.
func certificateProblems(_ flags: GTlsCertificateFlags) -> [String] {
    let words: [(GTlsCertificateFlags, String)] = [
        (
            G_TLS_CERTIFICATE_UNKNOWN_CA,
            "its certificate is signed by no authority that is trusted here (self-signed, or a private authority: "
                + "give its PEM file with --ca-file)"
        ),
        (G_TLS_CERTIFICATE_BAD_IDENTITY, "its certificate is for another host name"),
        (
            G_TLS_CERTIFICATE_NOT_ACTIVATED,
            "its certificate is not valid yet (is this machine's clock right?)"
        ),
        (G_TLS_CERTIFICATE_EXPIRED, "its certificate has expired (is this machine's clock right?)"),
        (G_TLS_CERTIFICATE_REVOKED, "its certificate has been revoked"),
        (G_TLS_CERTIFICATE_INSECURE, "its certificate uses an insecure algorithm"),
        (G_TLS_CERTIFICATE_GENERIC_ERROR, "its certificate could not be checked"),
    ]
    return words.filter { flags.rawValue & $0.0.rawValue != 0 }.map(\.1)
}
