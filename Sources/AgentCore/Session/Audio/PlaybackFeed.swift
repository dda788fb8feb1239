import AudioPipeline
import LoopCore

/// Hands the session's sound to a loudspeaker whose clock is not the session's: resampled by the little that the two
/// clocks differ, so that what waits to be played stays as short as it is. Confined to the loop.
final class PlaybackFeed {
    let device: PlaybackDevice
    private let resampler: VariableResampler
    private var control: FillControl
    private var drift: ClockDrift

    /// How long sound waits in the ring: two frames, since the session gives and the device takes one at a time.
    private static let target = Duration.milliseconds(20)
    /// More than this is brought down in the next silence, and more than the limit at once.
    private static let excess = Duration.milliseconds(50)
    private static let limit = Duration.milliseconds(150)
    private static let silentLevel: UInt8 = 60
    private static let fadeLength = 240

    /// What would have been played next when frames began to be left out.
    private var leftOut: [Int16]?
    private let targetFrames: Int
    private let excessFrames: Int
    private let limitFrames: Int

    /// - Returns: nil for a rate that cannot be converted to.
    init?(device: PlaybackDevice) {
        let rate = device.configuration.rate
        guard let resampler = VariableResampler(from: AudioFormat.sampleRate, to: rate) else { return nil }
        self.device = device
        self.resampler = resampler
        targetFrames = AudioFormat.frames(in: Self.target) * rate / AudioFormat.sampleRate
        excessFrames = AudioFormat.frames(in: Self.excess) * rate / AudioFormat.sampleRate
        limitFrames = AudioFormat.frames(in: Self.limit) * rate / AudioFormat.sampleRate
        control = FillControl(target: targetFrames, rate: rate)
        drift = ClockDrift(rate: rate)
    }

    /// How much faster the loudspeaker's clock is than the monotonic clock, in parts per million, where it is known.
    var driftPPM: Double? { drift.ppm }

    /// How long what is handed over now takes until it is heard.
    var delay: Duration { device.delay }

    /// Takes the next frame of the session, 48 kHz mono.
    /// - Parameter sourceDriftPPM: how much faster the session's clock is than the monotonic clock, where it is known.
    func play(_ samples: [Int16], sourceDriftPPM: Double?) {
        if let stamp = device.clock.stamp { drift.add(stamp) }
        let waiting = device.ring.count
        if waiting == 0 {
            device.ring.write([Int16](repeating: 0, count: targetFrames))
            control.restart()
        } else if isTooMuch(waiting, samples) {
            leftOut = leftOut ?? samples
            control.restart()
            return
        } else {
            // Half a minute of both clocks says more than the fill can.
            if let own = drift.ppm, drift.seconds > 20 { control.know(driftPPM: own - (sourceDriftPPM ?? 0)) }
            control.update(waiting: waiting, frames: samples.count)
            resampler.setDeviation(ppm: control.correctionPPM)
        }
        device.ring.write(resampler.process(joined(samples)))
    }

    /// Once something is left out, so much is that the target is met.
    private func isTooMuch(_ waiting: Int, _ samples: [Int16]) -> Bool {
        if leftOut != nil { return waiting > targetFrames }
        return waiting > limitFrames || (waiting > excessFrames && AudioLevel.dBov(samples) >= Self.silentLevel)
    }

    /// Cross-fades from what was left out to what goes on.
    private func joined(_ samples: [Int16]) -> [Int16] {
        guard let before = leftOut else { return samples }
        leftOut = nil
        var result = samples
        let count = min(Self.fadeLength, samples.count, before.count)
        for index in 0..<count {
            let weight = (index + 1) * 32_768 / count
            result[index] = Int16((Int(before[index]) * (32_768 - weight) + Int(samples[index]) * weight) >> 15)
        }
        return result
    }
}

/// Steers the resampling by how much waits: what it settles at is the difference of the clocks. Pure.
struct FillControl: Sendable {
    private let target: Double
    private let rate: Double
    private var mean: Double?
    private var integral = 0.0
    private var isMeasured = false
    private(set) var correctionPPM = 0.0

    init(target: Int, rate: Int) {
        self.target = Double(target)
        self.rate = Double(rate)
    }

    /// The clocks' difference was measured: positive where the device takes more than it is given.
    mutating func know(driftPPM: Double) {
        isMeasured = true
        integral = max(-1_000, min(1_000, driftPPM))
    }

    /// The fill jumped for another reason than drift.
    mutating func restart() { mean = nil }

    /// - Parameters:
    ///   - waiting: samples in the ring before the next frame is put in.
    ///   - frames: samples of 48 kHz in that frame.
    mutating func update(waiting: Int, frames: Int) {
        let seconds = Double(frames) / 48_000
        // The fill saws up and down by a period; its mean over some 2 s is what counts.
        let smoothed = (mean ?? target) + (Double(waiting) - (mean ?? target)) * min(1, seconds / 2)
        mean = smoothed
        // In microseconds of sound: 1 ms too little is answered by 100 ppm, and by 5 ppm more each second.
        let error = (target - smoothed) / rate * 1e6
        // Far off is a jump and not drift.
        if !isMeasured, abs(error) < 10_000 { integral = max(-1_000, min(1_000, integral + error * 0.005 * seconds)) }
        correctionPPM = max(-2_000, min(2_000, integral + error * 0.1))
    }
}
