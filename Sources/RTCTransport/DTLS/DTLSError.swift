/// Why a DTLS object could not be made.
public struct DTLSError: Error, Sendable, CustomStringConvertible {
    public var description: String
}
