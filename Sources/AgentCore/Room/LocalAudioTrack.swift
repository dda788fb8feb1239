import RTCTransport

/// An audio track that this end publishes. Confined to the loop.
public final class LocalAudioTrack {
    /// The id that this end gave it.
    public let cid: String
    /// The id that the server gave it; nil until it is published.
    public internal(set) var sid: String?
    /// Whether it is muted, by this end or by the server. Nothing is sent while it is.
    public internal(set) var isMuted: Bool
    var transceiver: Transceiver?
    weak var room: Room?

    init(cid: String, isMuted: Bool, room: Room) {
        self.cid = cid
        self.isMuted = isMuted
        self.room = room
    }

    /// Sends one Opus frame.
    /// - Parameters:
    ///   - timestamp: of its first sample, 48 kHz.
    ///   - marker: whether it starts a talk spurt.
    ///   - audioLevel: RFC 6464, -dBov from 0 to 127; servers find the active speakers by it.
    /// - Returns: whether it went out. Frames before the track is negotiated, and while it is muted, do not.
    @discardableResult
    public func send(opus payload: [UInt8], timestamp: UInt32, marker: Bool, audioLevel: UInt8?) -> Bool {
        guard !isMuted, let transceiver else { return false }
        return transceiver.send(opus: payload, timestamp: timestamp, marker: marker, audioLevel: audioLevel)
    }

    /// Mutes or unmutes it, for everybody in the room.
    public func setMuted(_ isMuted: Bool) {
        self.isMuted = isMuted
        room?.submit(.setMuted(cid: cid, isMuted))
    }

    /// Whether frames go out: the track is negotiated and the transport is up.
    public var isLive: Bool {
        transceiver?.currentDirection?.sends == true && room?.isMediaReady == true
    }
}
