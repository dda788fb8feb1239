import LiveKitProtocol

/// Works out who is speaking from the audio levels in RTP packets (RFC 6464). Pure.
///
/// A participant speaks when enough of its packets within an interval are loud; changes come out as the deltas of
/// `speakers_changed`.
struct ActiveSpeakers: Sendable {
    /// How often ``update()`` is to be called.
    static let interval = Duration.milliseconds(400)
    /// Packets at this level or louder are loud (-dBov).
    static let threshold: UInt8 = 35
    /// Loud packets of 20 ms that make a speaker: 40 % of the interval.
    static let minimumPackets = 8

    private struct Speaker: Sendable {
        var loudPackets = 0
        var loudest: UInt8 = 127
        var quietIntervals = 0
        /// As last told; 0 when not speaking.
        var level: Float = 0
    }

    private var speakers: [String: Speaker] = [:]

    /// Notes one packet.
    /// - Parameters:
    ///   - sid: the participant's.
    ///   - level: -dBov, 0 (loudest) to 127.
    mutating func observe(_ sid: String, level: UInt8) {
        guard level <= Self.threshold else { return }
        var speaker = speakers[sid] ?? Speaker()
        speaker.loudPackets += 1
        speaker.loudest = min(level, speaker.loudest)
        speakers[sid] = speaker
    }

    /// Ends an interval: what changed since the last.
    mutating func update() -> [SpeakerInfo] {
        var changes: [SpeakerInfo] = []
        for (sid, speaker) in speakers.sorted(by: { $0.key < $1.key }) {
            var speaker = speaker
            let isLoud = speaker.loudPackets >= Self.minimumPackets
            speaker.quietIntervals = isLoud ? 0 : speaker.quietIntervals + 1
            let level = isLoud ? Self.linear(speaker.loudest) : speaker.quietIntervals < 2 ? speaker.level : 0
            if level != speaker.level { changes.append(Self.info(sid, level: level)) }
            speaker.level = level
            speaker.loudPackets = 0
            speaker.loudest = 127
            speakers[sid] = level == 0 && speaker.quietIntervals > 1 ? nil : speaker
        }
        return changes
    }

    /// Forgets a participant who left.
    mutating func remove(_ sid: String) { speakers[sid] = nil }

    /// Who speaks now, for somebody who just came.
    var current: [SpeakerInfo] {
        speakers.filter { $0.value.level > 0 }.map { Self.info($0.key, level: $0.value.level) }
    }

    private static func info(_ sid: String, level: Float) -> SpeakerInfo {
        var info = SpeakerInfo()
        info.sid = sid
        info.level = level
        info.active = level > 0
        return info
    }

    /// 0 to 1 in steps of 1/8, so that small changes say nothing.
    static func linear(_ level: UInt8) -> Float {
        // 10^(-level/20) without the math library: 6.02 dB halve the amplitude.
        var value: Float = 1
        var left = Float(level)
        while left >= 6.02 {
            value /= 2
            left -= 6.02
        }
        value *= 1 - left / 12.04
        return max(1, (value * 8).rounded(.up)) / 8
    }
}
