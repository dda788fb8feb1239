import AudioPipeline

/// How long each step of connecting took. Steps that did not happen are nil.
public struct ConnectBreakdown: Sendable, Equatable {
    /// Fetching or minting the token.
    public var token: Duration?
    /// From the token to the server's join response: DNS, TCP, TLS, WebSocket upgrade and `join`.
    public var signaling: Duration?
    /// From the join response to a connected ICE candidate pair.
    public var ice: Duration?
    /// From ICE to the finished DTLS handshake.
    public var dtls: Duration?
    /// From the finished handshake to the first media packet sent.
    public var firstPacket: Duration?
    /// From the start of the session to the first media packet sent.
    public var total: Duration?

    public init() {}
}

/// One turn of the conversation: the user's speech and the agent's answer to it.
public struct TurnLatency: Sendable, Equatable {
    /// From the last sample of the user's speech leaving to the first audible sample of the answer arriving.
    public var firstAudio: Duration?
    /// From the same sample to the first word of the answer arriving as text.
    public var firstText: Duration?

    public init() {}
}

/// One direction of the audio.
public struct AudioTraffic: Sendable, Equatable {
    /// RTP packets.
    public var packets: UInt64 = 0
    /// Bytes of RTP, headers included, before encryption.
    public var bytes: UInt64 = 0
    /// Packets that the receiving side says never came.
    public var lost: Int64 = 0
    /// Share of packets lost, 0...1.
    public var lossRatio: Double = 0
    /// Interarrival jitter (RFC 3550 section 6.4.1) in milliseconds.
    public var jitterMilliseconds: Double = 0
    /// Seconds of audio sent or received.
    public var audioSeconds: Double = 0
    /// Seconds of audio that concealment had to invent.
    public var concealedSeconds: Double = 0
    /// Seconds by which audio was stretched or shortened to follow the network's jitter.
    public var stretchedSeconds: Double = 0
    /// Lost packets that in-band FEC brought back, coarsely.
    public var recoveredByFEC = 0
    /// Lost packets that redundant copies brought back, as they were.
    public var recoveredByRED = 0

    public init() {}
}

/// What a session amounted to; the last event of every session.
public struct SessionSummary: Sendable, Equatable {
    public var room: String?
    public var identity: String?
    public var agent: String?
    public var connect = ConnectBreakdown()
    public var turns: [TurnLatency] = []
    public var sent = AudioTraffic()
    public var received = AudioTraffic()
    /// Round-trip time to the server in milliseconds, from RTCP, if it was measured.
    public var roundTripMilliseconds: Double?
    /// How long the session was.
    public var duration: Duration = .zero
    /// Times the connection was lost and came back.
    public var reconnects = 0
    /// Where the answer was recorded.
    public var recording: String?
    /// The devices that took part.
    public var microphone: DeviceSummary?
    public var speaker: DeviceSummary?
    /// How much of the echo was taken out (ERLE), dB, where it was measured.
    public var echoReturnLossEnhancement: Int?

    public init() {}
}

/// A sound device that took part in a session.
public struct DeviceSummary: Sendable, Equatable {
    public var name: String
    /// Hz.
    public var rate: Int
    public var channels: Int
    /// ALSA's name of the sample format.
    public var format: String
    /// Overruns or underruns.
    public var xruns: Int
    public var suspends: Int
    /// Times it was lost and came back.
    public var reconnects: Int
    /// Silence that stood in for what it did not give or get.
    public var silentMilliseconds: Double
    /// What was lost because the program was too slow.
    public var droppedMilliseconds: Double
    /// How much faster its clock is than the monotonic clock, parts per million; nil where the session was too short to
    /// tell. What the two devices differ is resampled away.
    public var driftPPM: Double?
    /// How its thread was scheduled.
    public var scheduling: String

    init(name: String, configuration: PCMConfiguration, statistics: DeviceStatistics, driftPPM: Double?) {
        self.name = name
        rate = configuration.rate
        channels = configuration.channels
        format = configuration.format.rawValue
        xruns = statistics.xruns
        suspends = statistics.suspends
        reconnects = statistics.reconnects
        silentMilliseconds = Double(statistics.silentFrames) * 1000 / Double(configuration.rate)
        droppedMilliseconds = Double(statistics.droppedFrames) * 1000 / Double(configuration.rate)
        self.driftPPM = driftPPM
        scheduling = statistics.scheduling.description
    }
}
