public import LiveKitProtocol
public import LoopCore
public import RTCTransport
public import WebIO

extension Room {
    /// How to join a room and what to allow.
    public struct Options: Sendable {
        /// How many peer connections to use.
        public enum PeerConnectionMode: Sendable {
            /// One, falling back to two where the server is older.
            case automatic
            /// One; servers that do not know it are not joined.
            case single
            /// Two, as every server knows it.
            case dual
        }

        /// Subscribe to every audio track that others publish.
        public var autoSubscribe = true
        public var peerConnections = PeerConnectionMode.automatic
        /// TLS, proxies and limits of the signal connection.
        public var web = WebOptions()
        /// Use relayed candidates only.
        public var relayOnly = false
        /// Gather loopback candidates only.
        public var loopbackOnly = false
        /// Used instead of the servers that the join response names.
        public var iceServers: [RTCTransport.ICEServer]?
        /// Offer and accept redundant audio (RFC 2198).
        public var allowsRedundantAudio = true
        public var limits = RoomStateMachine.Limits()
        /// Attempts to get a lost connection back before it is given up; 0 gives up at once.
        public var maximumReconnects = 10
        /// Whether the owner answers ``RoomEvent/tokenNeeded`` with another token.
        public var renewsToken = false
        /// Where to look for another region when a server cannot be reached.
        public var regions = RoomStateMachine.RegionUse.cloud
        /// What the server is told about this program.
        public var clientInfo: ClientInfo = {
            var info = ClientInfo()
            info.version = agentctlVersion
            info.os = "linux"
            return info
        }()

        public init() {}
    }
}

/// How to publish a microphone.
public struct AudioPublishOptions: Sendable {
    public var name = "microphone"
    public var source = TrackSource.microphone
    /// Whether others may be sent redundant audio made of it, and whether it is sent so.
    public var redundant = true
    /// Whether silence is left out.
    public var dtx = false
    public var isMuted = false
    /// Features beside those that follow from the other options.
    public var features: [AudioTrackFeature] = []

    public init() {}
}

/// When the steps of connecting happened; nil where they did not.
public struct ConnectTimings: Sendable, Equatable {
    public var started: MonotonicTime?
    public var socketOpened: MonotonicTime?
    public var joined: MonotonicTime?
    public var iceConnected: MonotonicTime?
    public var dtlsConnected: MonotonicTime?
    public var firstPacketSent: MonotonicTime?
    public var firstPacketReceived: MonotonicTime?
}

/// Counters of a room's media.
public struct RoomStatistics: Sendable, Equatable {
    /// Of the published tracks, by client id.
    public var sent: [String: SenderStatistics] = [:]
    /// Of the subscribed tracks, by track sid.
    public var received: [String: ReceiverStatistics] = [:]
    /// Of the signal connection, in milliseconds.
    public var signalRoundTripMilliseconds: Int64 = 0
    public var candidatePair: ICECandidatePair?
    /// Lossy data packets that made room for newer ones before the transport took them.
    public var droppedDataPackets = 0
}
