import AudioPipeline
import LoopCore
import RTCTransport

/// Plays out what the subscribed tracks bring, in real time: jitter buffer, decoding and concealment for each,
/// mixed, measured and recorded. Confined to the loop.
final class SpeakerReceiver {
    enum Event {
        /// The audio became audible or silent.
        case audible(Bool, MonotonicTime)
        /// The recording cannot go on; what was written stays playable.
        case recordingFailed(String)
    }

    var onEvent: ((Event) -> Void)?
    /// Seconds of audio played out since the first packet.
    var playedSeconds: Double { Double(playedFrames) * 0.02 }

    /// Quieter than this (-dBov) is silence: comfort noise and the codec's noise of a silent input stay below it.
    private static let audibleLevel: UInt8 = 55
    /// 20 ms frames that must be quiet to count as silent; longer than the pauses within words.
    private static let hangover = 15

    private let loop: EventLoop
    private var receivers: [String: AudioReceiver] = [:]
    private var retiredConcealment = 0.0
    private var writer: WAVWriter?
    private var timer: LoopTimer?
    private var quietFrames = 0
    private var playedFrames: UInt64 = 0
    private var isAudible = false

    init(loop: EventLoop, writer: WAVWriter?) {
        self.loop = loop
        self.writer = writer
    }

    /// Takes one frame of a track; the first one starts the playout clock.
    func receive(_ frame: ReceivedFrame, of trackSid: String) {
        guard let receiver = receiver(of: trackSid) else { return }
        receiver.insert(
            payload: frame.payload, timestamp: frame.timestamp, sequenceNumber: frame.sequenceNumber,
            isRedundant: frame.isRedundant, ssrc: frame.ssrc, arrival: frame.arrival)
        if timer == nil {
            timer = loop.schedule(every: .milliseconds(20), startingAt: .now) { [weak self] in self?.playFrame() }
        }
    }

    func remove(trackSid: String) {
        guard let receiver = receivers.removeValue(forKey: trackSid) else { return }
        retiredConcealment += Self.concealedSeconds(receiver)
    }

    /// Stops the clock and completes the recording. Returns what went wrong with it.
    func stop() -> String? {
        timer = nil
        onEvent = nil
        defer { writer = nil }
        do {
            try writer?.close()
            return nil
        } catch {
            return error.description
        }
    }

    /// Seconds that concealment invented, over all tracks.
    var concealedSeconds: Double {
        receivers.values.reduce(retiredConcealment) { $0 + Self.concealedSeconds($1) }
    }

    private static func concealedSeconds(_ receiver: AudioReceiver) -> Double {
        Double(receiver.statistics.concealedMilliseconds) / 1000
    }

    private func receiver(of trackSid: String) -> AudioReceiver? {
        if let receiver = receivers[trackSid] { return receiver }
        guard let receiver = try? AudioReceiver() else { return nil }
        receivers[trackSid] = receiver
        return receiver
    }

    private func playFrame() {
        let now = MonotonicTime.now
        var mix = [Int16](repeating: 0, count: AudioFormat.framesPer20ms)
        for receiver in receivers.values {
            let samples = receiver.pull(frames: mix.count, at: now)
            for index in mix.indices { mix[index] = Int16(clamping: Int32(mix[index]) + Int32(samples[index])) }
        }
        playedFrames += 1
        measure(mix, now: now)
        record(mix)
    }

    private func measure(_ samples: [Int16], now: MonotonicTime) {
        if AudioLevel.dBov(samples) < Self.audibleLevel {
            quietFrames = 0
            if !isAudible {
                isAudible = true
                onEvent?(.audible(true, now))
            }
        } else if isAudible {
            quietFrames += 1
            if quietFrames >= Self.hangover {
                isAudible = false
                onEvent?(.audible(false, now))
            }
        }
    }

    private func record(_ samples: [Int16]) {
        do {
            try writer?.write(samples)
        } catch {
            writer = nil
            onEvent?(.recordingFailed(error.description))
        }
    }
}
