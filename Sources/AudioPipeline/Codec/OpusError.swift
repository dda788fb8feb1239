import COpus

/// A failure of the Opus codec.
public struct OpusError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The libopus code (`OPUS_BAD_ARG` and so on).
    public var code: Int32
    /// What was being done.
    public var operation: String

    public var description: String {
        "Opus could not \(operation): \(String(cString: opus_strerror(code)))."
    }
}
