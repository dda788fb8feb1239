import COpenSSL

/// Why a DTLS object could not be made: what OpenSSL said about what.
public struct DTLSError: Error, Sendable, Equatable, CustomStringConvertible {
    public var description: String

    init(_ what: String) {
        let reason = Self.drainQueue()
        description = reason.isEmpty ? "\(what) failed" : "\(what) failed: \(reason)"
    }

    /// Empties OpenSSL's error queue of this thread.
    /// - Returns: the reason of the newest error; empty when there was none.
    static func drainQueue() -> String {
        var reason = ""
        while case let code = ERR_get_error(), code != 0 {
            reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        }
        return reason
    }
}
