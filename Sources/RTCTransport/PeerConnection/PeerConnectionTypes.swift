public import LoopCore

/// The state of a whole connection, with the meanings of `RTCPeerConnectionState` in WebRTC.
public enum PeerConnectionState: String, Sendable {
    case new, connecting, connected, disconnected, failed, closed
}

/// When the steps of connecting happened.
public struct PeerConnectionTimings: Sendable, Equatable {
    public var iceConnected: MonotonicTime?
    public var dtlsConnected: MonotonicTime?
    public var firstPacketReceived: MonotonicTime?
    public var firstPacketSent: MonotonicTime?
}

/// Counters of a whole connection.
public struct PeerConnectionStatistics: Sendable, Equatable {
    /// Datagrams that were neither STUN, DTLS nor (S)RTP, or did not parse or authenticate.
    public var discardedPackets: UInt64 = 0
    /// RTP of sources that belong to no section.
    public var unroutedPackets: UInt64 = 0
    /// Of the packets sent with transport-wide numbers: how many were reported, and how many as lost.
    public var feedbackReported = 0
    public var feedbackLost = 0
    public var candidatePair: ICECandidatePair?
}

extension PeerConnection {
    public struct Configuration: Sendable {
        public var iceServers: [ICEServer] = []
        /// Use relayed candidates only.
        public var relayOnly = false
        /// Gather ICE-TCP candidates too.
        public var enableTCP = true
        /// Gather 127.0.0.1 only.
        public var loopbackOnly = false
        /// Gather 127.0.0.1 beside other addresses.
        public var includeLoopback = true
        /// Hold gathering back until the remote description or ``PeerConnection/startGathering()``, for an offer that
        /// is made before the servers are known.
        public var defersGathering = false
        /// Offer and answer RED (RFC 2198).
        public var allowsRED = true
        /// SRTP protection profiles, most preferred first.
        public var srtpProfiles = SRTPProfile.preferred
        /// What `a=max-message-size` announces, in bytes.
        public var maxMessageSize = 262_144

        public init() {}
    }

    public enum Event {
        case iceCandidate(ICECandidate)
        case iceGatheringComplete
        case iceStateChanged(ICEState)
        case dtlsStateChanged(DTLSState)
        case connectionStateChanged(PeerConnectionState, reason: String?)
        /// The peer opened a channel; set its callbacks in the call.
        case dataChannel(DataChannel)
        /// The peer's description added or changed a media section.
        case transceiverChanged(Transceiver)
    }
}
