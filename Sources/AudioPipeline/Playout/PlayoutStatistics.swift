/// What the jitter buffer and the decoder had to do with a received stream so far. Counts are of packets, lengths
/// in samples at 48 kHz.
public struct PlayoutStatistics: Sendable, Equatable {
    /// Packets that arrived, late ones and duplicates included, redundant copies (RED) not.
    public var received = 0
    /// Packets that arrived twice.
    public var duplicates = 0
    /// Packets that arrived after their place had been played.
    public var late = 0
    /// Packets whose place was reached without them (the late ones among them).
    public var lost = 0
    /// Of the lost ones, those brought back from the following packet's in-band FEC.
    public var recoveredByFEC = 0
    /// Packets played from a redundant copy (RFC 2198) in a later packet; not counted as lost.
    public var recoveredByRED = 0
    /// Packets that were not Opus.
    public var invalid = 0
    /// Packets dropped to catch up after a long stall.
    public var discarded = 0
    /// Times the stream began anew (another SSRC, or timestamps that jumped).
    public var resets = 0

    /// Samples of sound played from packets.
    public var playedFrames = 0
    /// Samples made up for lost or late packets.
    public var concealedFrames = 0
    /// Samples of the sender's own silence (discontinuous transmission, pauses).
    public var comfortFrames = 0
    /// Samples taken out to shorten the delay.
    public var removedFrames = 0
    /// Samples put in to lengthen the delay.
    public var insertedFrames = 0

    /// The delay that the buffer aims at, from the earliest that a packet could arrive to its sound.
    public var targetDelay = Duration.zero
    /// The delay now.
    public var currentDelay = Duration.zero

    public init() {}

    /// Sound made up, in ms.
    public var concealedMilliseconds: Double { Double(concealedFrames) / 48 }

    /// The share of the sound that was made up, 0 to 1.
    public var concealedShare: Double {
        let total = playedFrames + concealedFrames
        return total == 0 ? 0 : Double(concealedFrames) / Double(total)
    }
}
