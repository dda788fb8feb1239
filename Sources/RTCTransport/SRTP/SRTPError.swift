/// Why a packet could not be protected or unprotected.
enum SRTPError: Error, Sendable, Equatable {
    /// Too short or too long, or not RTP.
    case malformed
    /// Tampered with, or protected with other keys.
    case authenticationFailed
    /// Seen before, or older than the replay window.
    case replayed
    /// More synchronisation sources than one session accepts.
    case tooManySources
    /// libsrtp's status code.
    case library(UInt32)
}
