import AudioPipeline
import LoopCore
import RTCTransport

/// What the subscribed tracks bring, played out frame by frame: jitter buffer, decoding and concealment for each,
/// mixed. Confined to the loop.
final class SpeakerReceiver {
    /// The first packet has come.
    private(set) var hasStarted = false
    private var receivers: [String: AudioReceiver] = [:]
    private var retired = PlayoutStatistics()

    /// Takes one frame of a track.
    func receive(_ frame: ReceivedFrame, of trackSid: String) {
        guard let receiver = receiver(of: trackSid) else { return }
        hasStarted = true
        receiver.insert(
            payload: frame.payload, timestamp: frame.timestamp, sequenceNumber: frame.sequenceNumber,
            isRedundant: frame.isRedundant, ssrc: frame.ssrc, arrival: frame.arrival)
    }

    func remove(trackSid: String) {
        guard let receiver = receivers.removeValue(forKey: trackSid) else { return }
        retired.add(receiver.statistics)
    }

    /// The next samples, 48 kHz mono.
    func pull(frames: Int, at now: MonotonicTime) -> [Int16] {
        guard receivers.count != 1, !receivers.isEmpty else {
            return receivers.values.first?.pull(frames: frames, at: now) ?? [Int16](repeating: 0, count: frames)
        }
        var mix = [Int16](repeating: 0, count: frames)
        for receiver in receivers.values {
            let samples = receiver.pull(frames: frames, at: now)
            for index in mix.indices { mix[index] = Int16(clamping: Int32(mix[index]) + Int32(samples[index])) }
        }
        return mix
    }

    /// Over all tracks, those that have gone included.
    var statistics: PlayoutStatistics {
        receivers.values.reduce(into: retired) { $0.add($1.statistics) }
    }

    private func receiver(of trackSid: String) -> AudioReceiver? {
        if let receiver = receivers[trackSid] { return receiver }
        guard let receiver = try? AudioReceiver() else { return nil }
        receivers[trackSid] = receiver
        return receiver
    }
}

extension PlayoutStatistics {
    /// Adds the counts of another track; the delays are those of the longer.
    fileprivate mutating func add(_ other: PlayoutStatistics) {
        received += other.received
        duplicates += other.duplicates
        late += other.late
        lost += other.lost
        recoveredByFEC += other.recoveredByFEC
        recoveredByRED += other.recoveredByRED
        invalid += other.invalid
        discarded += other.discarded
        resets += other.resets
        playedFrames += other.playedFrames
        concealedFrames += other.concealedFrames
        comfortFrames += other.comfortFrames
        removedFrames += other.removedFrames
        insertedFrames += other.insertedFrames
        targetDelay = max(targetDelay, other.targetDelay)
        currentDelay = max(currentDelay, other.currentDelay)
    }
}
