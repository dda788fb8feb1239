public import LoopCore

/// Turns a received Opus stream into sound without gaps: put packets in as they arrive, take out samples whenever
/// they are needed. Never blocks and always gives as many samples as asked for: sound, concealment, or silence
/// before the stream and in its pauses.
///
/// The start and end of everything made up is faded, so that there are no clicks; concealment fades to silence
/// after 100 to 200 ms.
public final class AudioReceiver {
    private static let fadeStart = 100 * 48
    private static let fadeEnd = 200 * 48
    private static let rampFrames = 240
    /// The most samples that one `pull` gives (1 s).
    public static let maximumPull = 48_000

    private var jitterBuffer: JitterBuffer
    private let decoder: OpusDecoder
    private var queue = SampleQueue(capacity: 2 * AudioReceiver.maximumPull)
    /// The gain of the last sample that was put out: 0 in silence, 1 in sound.
    private var gain: Float = 0
    /// Samples made up in a row.
    private var concealedRun = 0
    private var lastSample: Int16 = 0
    private var failedDecodes = 0

    /// - Throws: `OpusError` without memory for a decoder.
    public init(configuration: JitterBuffer.Configuration = JitterBuffer.Configuration()) throws(OpusError) {
        jitterBuffer = JitterBuffer(configuration: configuration)
        decoder = try OpusDecoder(channels: 1)
    }

    /// Counts and delays so far.
    public var statistics: PlayoutStatistics {
        var statistics = jitterBuffer.statistics
        statistics.invalid += failedDecodes
        return statistics
    }

    /// Takes a packet as it arrives.
    public func insert(_ frame: JitterBuffer.Frame) {
        jitterBuffer.insert(frame)
    }

    /// Takes a packet as it arrives.
    ///
    /// - Parameters:
    ///   - timestamp: RTP timestamp, 48 kHz.
    ///   - isRedundant: a copy out of a later packet (RFC 2198).
    public func insert(
        payload: [UInt8], timestamp: UInt32, sequenceNumber: UInt16, isRedundant: Bool = false, ssrc: UInt32 = 0,
        arrival: MonotonicTime
    ) {
        jitterBuffer.insert(
            JitterBuffer.Frame(
                payload: payload, timestamp: timestamp, sequenceNumber: sequenceNumber, isRedundant: isRedundant,
                ssrc: ssrc, arrival: arrival))
    }

    /// The next `frames` samples, 48 kHz mono (usually 480 or 960; at most `maximumPull`).
    public func pull(frames: Int = AudioFormat.framesPer10ms, at now: MonotonicTime) -> [Int16] {
        let wanted = min(max(0, frames), Self.maximumPull)
        while queue.count < wanted { produce(now) }
        return queue.take(wanted)
    }

    private func produce(_ now: MonotonicTime) {
        switch jitterBuffer.pull(at: now, buffered: queue.count) {
        case .silence(let frames): silence(frames)
        case .conceal(let frames, let isComfort): conceal(frames, isComfort: isComfort)
        case .recover(let payload, let frames, let keeping): recover(payload, frames: frames, keeping: keeping)
        case .play(let payload, let frames, let isNewStream, let stretch):
            if isNewStream { decoder.reset() }
            play(payload, frames: frames, stretch: stretch)
        }
    }

    private func silence(_ frames: Int) {
        if gain > 0, var made = try? decoder.conceal(frames: frames) {
            ramp(&made, to: 0, over: made.count)
            put(made)
        } else {
            put([Int16](repeating: 0, count: frames))
        }
        gain = 0
        concealedRun = 0
    }

    private func conceal(_ frames: Int, isComfort: Bool) {
        if isComfort {
            concealedRun = 0
        } else {
            concealedRun += frames
        }
        guard gain > 0, var made = try? decoder.conceal(frames: frames) else {
            put([Int16](repeating: 0, count: frames))
            gain = 0
            return
        }
        let left = Float(Self.fadeEnd - concealedRun) / Float(Self.fadeEnd - Self.fadeStart)
        ramp(&made, to: isComfort ? gain : min(gain, max(0, min(1, left))), over: made.count)
        put(made)
    }

    private func recover(_ payload: [UInt8], frames: Int, keeping: Int) {
        guard let made = try? decoder.decodeFEC(payload, frames: frames) else {
            conceal(max(120, keeping / 120 * 120), isComfort: false)
            return
        }
        var kept = Array(made.suffix(keeping))
        if keeping < made.count { join(&kept) }
        sound(&kept)
    }

    private func play(_ payload: [UInt8], frames: Int, stretch: JitterBuffer.Stretch) {
        guard var samples = try? decoder.decode(payload) else {
            failedDecodes += 1
            conceal(max(120, frames / 120 * 120), isComfort: false)
            return
        }
        let scaled: [Int16]? =
            switch stretch {
            case .none: nil
            case .shorten: TimeScaler.shorten(samples)
            case .lengthen: TimeScaler.lengthen(samples)
            }
        if let scaled {
            jitterBuffer.didStretch(by: scaled.count - samples.count)
            samples = scaled
        }
        sound(&samples)
    }

    /// Puts out real sound, brought up to full gain after silence or faded concealment.
    private func sound(_ samples: inout [Int16]) {
        ramp(&samples, to: 1, over: Self.rampFrames)
        concealedRun = 0
        put(samples)
    }

    /// Moves the gain in a straight line from what it is to `end`.
    private func ramp(_ samples: inout [Int16], to end: Float, over count: Int) {
        let start = gain
        gain = end
        if start == 1 && end == 1 { return }
        let steps = min(count, samples.count)
        for index in samples.indices {
            let factor = index < steps ? start + (end - start) * Float(index + 1) / Float(steps) : end
            samples[index] = Int16(Float(samples[index]) * factor)
        }
    }

    /// Removes the step to sound that does not follow on from the last sample: the difference dies away in 2.5 ms.
    private func join(_ samples: inout [Int16]) {
        guard let first = samples.first else { return }
        let step = Int(lastSample) - Int(first)
        let count = min(120, samples.count)
        for index in 0..<count {
            samples[index] = Int16(clamping: Int(samples[index]) + step * (count - index) / count)
        }
    }

    private func put(_ samples: [Int16]) {
        queue.append(samples)
        if let last = samples.last { lastSample = last }
    }
}
