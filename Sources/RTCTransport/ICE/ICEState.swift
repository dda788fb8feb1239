/// The state of the ICE connection, with the meanings of `RTCIceConnectionState` in WebRTC.
public enum ICEState: String, Sendable {
    /// Nothing is being checked yet.
    case new
    /// Connectivity checks are under way.
    case checking
    /// A pair of candidates works; better ones may still be found.
    case connected
    /// A pair of candidates works and checking has ended.
    case completed
    /// Consent was lost (RFC 7675); the connection may come back.
    case disconnected
    /// No pair of candidates works, or a lost connection did not come back. An ICE restart may help.
    case failed
    case closed

    /// Whether data can flow.
    public var isConnected: Bool { self == .connected || self == .completed }
}

/// The two candidates that carry the data.
public struct ICECandidatePair: Sendable, Equatable, CustomStringConvertible {
    /// One end of the pair.
    public struct End: Sendable, Equatable, CustomStringConvertible {
        /// `host`, `srflx`, `prflx` or `relay` (RFC 8839, candidate-types).
        public var type: String
        /// `udp` or `tcp`.
        public var transport: String
        /// The IP address, without brackets.
        public var address: String
        public var port: UInt16

        public var description: String {
            (address.contains(":") ? "[\(address)]" : address) + ":\(port)/\(transport) (\(type))"
        }
    }

    public var local: End
    public var remote: End

    public var description: String { "\(local) to \(remote)" }
}
