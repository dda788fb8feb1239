import LiveKitProtocol
import RTCTransport

/// How well a participant is connected, judged by what is lost of its audio. Pure.
struct QualityMeter: Sendable, Equatable {
    private var packets: UInt64 = 0
    private var lost: Int64 = 0

    /// The quality since the last call.
    /// - Parameters:
    ///   - packets: received so far.
    ///   - lost: so far.
    mutating func measure(packets: UInt64, lost: Int64) -> (quality: ConnectionQuality, score: Float) {
        let received = Double(packets &- self.packets)
        let missing = Double(max(0, lost &- self.lost))
        // Another source starts to count from zero.
        let isNew = packets < self.packets
        (self.packets, self.lost) = (packets, lost)
        guard !isNew, received + missing > 0 else { return (.excellent, 4.5) }
        let share = missing / (received + missing)
        return share < 0.02 ? (.excellent, 4.5) : share < 0.06 ? (.good, 3.8) : (.poor, 2.5)
    }
}

extension RoomMember {
    /// The quality of the last seconds, for `connection_quality`.
    func measureQuality() -> ConnectionQualityInfo {
        var info = ConnectionQualityInfo()
        info.participantSid = sid
        guard primary.connectionState == .connected else {
            info.quality = .lost
            return info
        }
        var (packets, lost): (UInt64, Int64) = (0, 0)
        for track in tracks {
            guard let statistics = track.source?.receiverStatistics else { continue }
            packets &+= statistics.packets
            lost &+= statistics.lost
        }
        (info.quality, info.score) = meter.measure(packets: packets, lost: lost)
        return info
    }
}
