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
    private let name: String
    private var device: PCMDevice?
    private let configuration: PCMConfiguration
    private let ring: SampleRing
    private let clock: DeviceClock
    private let counters: DeviceCounters
    private let stopSignal: WakeupSignal

    /// Frames that are kept in the device: its delay.
    private let queueFrames: Int
    private let bytes: UnsafeMutableRawPointer
    private let mono: UnsafeMutablePointer<Int16>
    private let descriptors: UnsafeMutablePointer<pollfd>
    private var pollCount = 0
    private static let maximumDescriptors = 16

    private var pace: PaceGuard
    private var moved = 0
    private var movedBeforeWait = -1
    private var lastFlow: Int64 = 0
    private var edge = SilenceEdge()
    private var hasSound = false

    init(
        device: PCMDevice, ring: SampleRing, clock: DeviceClock, counters: DeviceCounters, stopSignal: WakeupSignal
    ) {
        name = device.name
        self.device = device
        configuration = device.configuration
        self.ring = ring
        self.clock = clock
        self.counters = counters
        self.stopSignal = stopSignal
        queueFrames = min(configuration.bufferFrames, max(2 * configuration.periodFrames, configuration.rate / 50))
        bytes = .allocate(
            byteCount: configuration.bufferFrames * configuration.channels * configuration.format.width, alignment: 16)
        mono = .allocate(capacity: configuration.bufferFrames)
        descriptors = .allocate(capacity: Self.maximumDescriptors + 1)
        descriptors.initialize(repeating: pollfd(), count: Self.maximumDescriptors + 1)
        pace = PaceGuard(rate: configuration.rate, slack: queueFrames / 2, start: 0)
    }

    deinit {
        bytes.deallocate()
        mono.deallocate()
        descriptors.deallocate()
    }

    private static var now: Int64 { MonotonicTime.now.nanoseconds }

    func run(scheduling: AudioScheduling) {
        counters.scheduling.store(scheduling.rawValue, ordering: .relaxed)
        begin()
        while !counters.isStopping.load(ordering: .acquiring) {
            guard let device else {
                waitForDevice()
                continue
            }
            move(to: device)
            if self.device != nil { wait(for: device) }
        }
        if let device, hasSound, !pace.isUnpaced { device.drain() }
        device?.stop()
        device = nil
    }

    private func begin() {
        guard let device else { return }
        let now = Self.now
        lastFlow = now
        pace = PaceGuard(rate: configuration.rate, slack: queueFrames / 2, start: now)
        moved = 0
        pollCount = min(device.pollCount, Self.maximumDescriptors)
        device.fill(descriptors + 1, count: pollCount)
    }

    private func wait(for device: PCMDevice) {
        descriptors[0] = pollfd(fd: stopSignal.descriptor, events: Int16(POLLIN), revents: 0)
        if pace.isUnpaced {
            poll(descriptors, 1, pace.wait(for: configuration.periodFrames, moved: moved, now: Self.now))
            return
        }
        // The device holds more than is wanted in it; it is looked at once a period instead of whenever it could take
        // something.
        let queued = configuration.bufferFrames - max(0, device.available())
        let spare = queued - (queueFrames - configuration.periodFrames)
        if spare > 0 {
            poll(descriptors, 1, Int32(max(1, spare * 1000 / configuration.rate)))
        } else {
            // As in capture: never spin.
            if moved == movedBeforeWait { poll(descriptors, 1, 3) }
            movedBeforeWait = moved
            poll(descriptors, nfds_t(1 + pollCount), 20)
            _ = device.events(descriptors + 1, count: pollCount)
        }
    }

    private func move(to device: PCMDevice) {
        let available = device.available()
        if available < 0 { return handle(available, device) }
        let queued = configuration.bufferFrames - available
        let room = min(available, max(0, queueFrames - queued))
        let wanted = pace.allowance(available: room, moved: moved, now: Self.now)
        guard wanted > 0 else {
            checkStall(device)
            return
        }
        prepare(wanted)
        var done = 0
        while done < wanted {
            let width = configuration.channels * configuration.format.width
            let count = device.write(bytes + done * width, frames: wanted - done)
            if count < 0 {
                if Int32(-count) == EAGAIN { break }
                return handle(count, device)
            }
            if count == 0 { break }
            done += count
        }
        moved += done
        let now = Self.now
        lastFlow = now
        counters.frames.wrappingAdd(done, ordering: .relaxed)
        let pending = pace.isUnpaced ? queueFrames : device.delay()
        clock.set(
            frames: counters.frames.load(ordering: .relaxed),
            at: MonotonicTime(nanoseconds: now + Int64(pending) * 1_000_000_000 / Int64(configuration.rate)))
    }

    /// Takes samples out of the ring, silence where there are none, and makes them the device's.
    private func prepare(_ frames: Int) {
        let count = ring.read(into: UnsafeMutableBufferPointer(start: mono, count: frames))
        if count > 0 {
            hasSound = true
            edge.resume(mono, count: count)
        }
        if count < frames {
            edge.silence(mono + count, count: frames - count)
            if hasSound { counters.silentFrames.wrappingAdd(frames - count, ordering: .relaxed) }
        }
        configuration.format.fromMono(mono, frames: frames, channels: configuration.channels, into: bytes)
    }

    private func handle(_ code: Int, _ device: PCMDevice) {
        switch device.recover(from: code) {
        case .xrun: counters.xruns.wrappingAdd(1, ordering: .relaxed)
        case .suspended: counters.suspends.wrappingAdd(1, ordering: .relaxed)
        case .lost: lose()
        }
    }

    /// A device that takes nothing for three seconds is gone.
    private func checkStall(_ device: PCMDevice) {
        if device.isDisconnected || Self.now - lastFlow > 3_000_000_000 { lose() }
    }

    private func lose() {
        device = nil
        counters.isPresent.store(false, ordering: .relaxed)
    }

    /// Tries to open the device again every half second, and lets what should be heard meanwhile pass unheard.
    private func waitForDevice() {
        for _ in 0..<25 {
            descriptors[0] = pollfd(fd: stopSignal.descriptor, events: Int16(POLLIN), revents: 0)
            poll(descriptors, 1, 20)
            if counters.isStopping.load(ordering: .acquiring) { return }
            ring.skip(configuration.rate / 50)
        }
        guard let found = try? PCMDevice(name: name, direction: .playback), found.configuration == configuration else {
            return
        }
        device = found
        counters.reconnects.wrappingAdd(1, ordering: .relaxed)
        counters.isPresent.store(true, ordering: .relaxed)
        begin()
    }
}
