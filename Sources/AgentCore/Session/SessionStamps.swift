import LoopCore

/// When the steps of a session happened, stamped where they happen; the summary's durations are differences of these.
struct SessionStamps {
    var started: MonotonicTime?
    var tokenReceived: MonotonicTime?
    var joined: MonotonicTime?
    var iceConnected: MonotonicTime?
    var dtlsConnected: MonotonicTime?
    var firstPacketSent: MonotonicTime?
    /// Somebody subscribed to the microphone.
    var subscribed: MonotonicTime?
    var conversationStarted: MonotonicTime?

    /// The steps as durations, each since the one before.
    var breakdown: ConnectBreakdown {
        var result = ConnectBreakdown()
        result.token = Self.span(started, tokenReceived)
        result.signaling = Self.span(tokenReceived, joined)
        result.ice = Self.span(joined, iceConnected)
        result.dtls = Self.span(iceConnected, dtlsConnected)
        result.firstPacket = Self.span(dtlsConnected, firstPacketSent)
        result.total = Self.span(started, firstPacketSent)
        return result
    }

    private static func span(_ start: MonotonicTime?, _ end: MonotonicTime?) -> Duration? {
        guard let start, let end else { return nil }
        return end - start
    }
}
