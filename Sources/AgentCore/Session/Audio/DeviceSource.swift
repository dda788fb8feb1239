import AudioPipeline
import LoopCore

/// A microphone as a source: 10 ms frames as soon as the device has given them, resampled to 48 kHz where it has
/// another rate.
final class DeviceSource: FrameSource {
    var onFrame: (([Int16], MonotonicTime) -> Void)?

    private let loop: EventLoop
    private let device: CaptureDevice
    private let resampler: Resampler?
    private var pending: [Int16] = []
    private var watch: DescriptorWatch?
    private var drift: ClockDrift

    init(loop: EventLoop, device: CaptureDevice) {
        self.loop = loop
        self.device = device
        drift = ClockDrift(rate: device.configuration.rate)
        let rate = device.configuration.rate
        resampler = rate == AudioFormat.sampleRate ? nil : Resampler(from: rate, to: AudioFormat.sampleRate)
    }

    func start() {
        guard watch == nil else { return }
        watch = loop.watch(device.wakeupDescriptor) { [weak self] in self?.take() }
        take()
    }

    func stop() {
        watch = nil
        onFrame = nil
        device.stop()
    }

    var driftPPM: Double? { drift.ppm }

    private func take() {
        device.clearWakeup()
        if let stamp = device.clock.stamp { drift.add(stamp) }
        let samples = device.ring.read(device.ring.capacity)
        pending += resampler?.process(samples) ?? samples
        let length = AudioFormat.framesPer10ms
        let captured = capturedAt()
        while pending.count >= length {
            let frame = Array(pending[..<length])
            pending.removeFirst(length)
            onFrame?(frame, captured - AudioFormat.duration(ofFrames: pending.count))
        }
    }

    /// When the newest sample was captured.
    private func capturedAt() -> MonotonicTime {
        let now = MonotonicTime.now
        guard let stamp = device.clock.stamp else { return now }
        // Silence that stands in for a lost device has no stamp.
        return now - stamp.time > .milliseconds(100) ? now : stamp.time
    }
}
