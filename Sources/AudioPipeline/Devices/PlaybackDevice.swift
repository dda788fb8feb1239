import Glibc
import LoopCore
import Synchronization

/// A loudspeaker that is being played to: its thread moves samples from a ring to ALSA, on every channel, and plays
/// silence where there are none, so that the device's clock never stops.
public final class PlaybackDevice: Sendable {
    /// The name that ALSA knows it by.
    public let name: String
    public let configuration: PCMConfiguration
    /// Mono samples at the device's rate that are to be played.
    public let ring: SampleRing
    /// When the last sample handed to the device will be heard.
    public let clock = DeviceClock()
    private let stopSignal = WakeupSignal()
    private let counters = DeviceCounters()
    private let thread: AudioThread

    /// Opens and starts it.
    /// - Throws: ``AudioDeviceError``.
    public init(name: String = "default") throws(AudioDeviceError) {
        let device = try PCMDevice(name: name, direction: .playback)
        self.name = name
        configuration = device.configuration
        let ring = SampleRing(capacity: device.configuration.rate)
        self.ring = ring
        // Only the thread uses the worker from here on.
        nonisolated(unsafe) let worker = PlaybackWorker(
            device: device, ring: ring, clock: clock, counters: counters, stopSignal: stopSignal)
        thread = AudioThread(name: "audio-playback") { worker.run(scheduling: $0) }
    }

    deinit {
        stop()
    }

    public var statistics: DeviceStatistics { counters.statistics(dropped: ring.dropped) }

    /// How long a sample takes from being written to the ring to being heard.
    public var delay: Duration {
        guard let stamp = clock.stamp else { return .zero }
        let queued = AudioFormat.duration(ofFrames: ring.count * AudioFormat.sampleRate / configuration.rate)
        return max(.zero, stamp.time - .now) + queued
    }

    /// Ends the thread and closes the device, after what is in the device was heard. Harmless when repeated.
    public func stop() {
        counters.isStopping.store(true, ordering: .releasing)
        stopSignal.raise()
        thread.join()
    }
}

/// What the playback thread does. Nothing in its steady state allocates, locks or calls the concurrency runtime.
private final class PlaybackWorker {
    private let flow: DeviceFlow
    private let ring: SampleRing
    /// Frames that are kept in the device: its delay.
    private let queueFrames: Int
    private var edge = SilenceEdge()
    private var hasSound = false

    /// A device that takes nothing for so long is gone, ns.
    private static let patience: Int64 = 3_000_000_000

    init(
        device: PCMDevice, ring: SampleRing, clock: DeviceClock, counters: DeviceCounters, stopSignal: WakeupSignal
    ) {
        let configuration = device.configuration
        queueFrames = min(configuration.bufferFrames, max(2 * configuration.periodFrames, configuration.rate / 50))
        flow = DeviceFlow(
            device: device, blockFrames: configuration.bufferFrames, slack: queueFrames / 2, clock: clock,
            counters: counters, stopSignal: stopSignal)
        self.ring = ring
    }

    func run(scheduling: AudioScheduling) {
        flow.start(scheduling: scheduling)
        while !flow.isStopping {
            guard let device = flow.device else {
                // What should be heard meanwhile passes unheard.
                if flow.findDevice(meanwhile: { ring.skip(flow.configuration.rate / 50) }) { flow.begin() }
                continue
            }
            move(to: device)
            if flow.device != nil { wait(for: device) }
        }
        if hasSound, !flow.pace.isUnpaced { flow.device?.drain() }
        flow.end()
    }

    private func wait(for device: PCMDevice) {
        if flow.pace.isUnpaced { return flow.waitForTime() }
        // The device holds more than is wanted in it; it is looked at once a period instead of whenever it could take
        // something.
        let configuration = flow.configuration
        let queued = configuration.bufferFrames - max(0, device.available())
        let spare = queued - (queueFrames - configuration.periodFrames)
        if spare > 0 {
            flow.pause(Int32(max(1, spare * 1000 / configuration.rate)))
        } else {
            flow.waitUntilReady(atMost: 20)
        }
    }

    private func move(to device: PCMDevice) {
        let available = device.available()
        guard available >= 0 else {
            flow.recover(device, from: available)
            return
        }
        let configuration = flow.configuration
        let queued = configuration.bufferFrames - available
        let wanted = flow.allowance(available: min(available, max(0, queueFrames - queued)))
        guard wanted > 0 else {
            if device.isDisconnected || DeviceFlow.now - flow.lastMove > Self.patience { flow.lose() }
            return
        }
        prepare(wanted)
        let width = configuration.channels * configuration.format.width
        var done = 0
        while done < wanted {
            let count = device.write(flow.bytes + done * width, frames: wanted - done)
            if count < 0, Int32(-count) != EAGAIN {
                flow.recover(device, from: count)
                return
            }
            if count <= 0 { break }
            done += count
        }
        flow.moved += done
        let now = DeviceFlow.now
        flow.lastMove = now
        flow.counters.frames.wrappingAdd(done, ordering: .relaxed)
        flow.stamp(at: now, offset: flow.pace.isUnpaced ? queueFrames : device.delay())
    }

    /// Takes samples out of the ring, silence where there are none, and makes them the device's.
    private func prepare(_ frames: Int) {
        let mono = flow.mono
        let count = ring.read(into: UnsafeMutableBufferPointer(start: mono, count: frames))
        if count > 0 {
            hasSound = true
            edge.resume(mono, count: count)
        }
        if count < frames {
            edge.silence(mono + count, count: frames - count)
            if hasSound { flow.counters.silentFrames.wrappingAdd(frames - count, ordering: .relaxed) }
        }
        let configuration = flow.configuration
        configuration.format.fromMono(mono, frames: frames, channels: configuration.channels, into: flow.bytes)
    }
}
