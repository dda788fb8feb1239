import Glibc
import LoopCore
import Synchronization

/// A microphone that is being captured: its thread moves samples, mixed down to mono, from ALSA into a ring, and keeps
/// the flow in step with time whatever the device does. Overruns, sleep and unplugging are filled with silence of the
/// right length, and counted.
public final class CaptureDevice: Sendable {
    /// The name that ALSA knows it by.
    public let name: String
    public let configuration: PCMConfiguration
    /// Mono samples at the device's rate.
    public let ring: SampleRing
    /// Where the sample counter stood when.
    public let clock = DeviceClock()
    private let wakeup = WakeupSignal()
    private let stopSignal = WakeupSignal()
    private let counters = DeviceCounters()
    private let thread: AudioThread

    /// Opens and starts it.
    /// - Parameters:
    ///   - name: any PCM that ALSA knows: `default`, `hw:1,0`, `plughw:CARD=USB`, `pulse`.
    ///   - bound: how much the ring keeps while nobody takes anything out.
    /// - Throws: ``AudioDeviceError``.
    public init(name: String = "default", bound: Duration = .seconds(10)) throws(AudioDeviceError) {
        let device = try PCMDevice(name: name, direction: .capture)
        self.name = name
        configuration = device.configuration
        let ring = SampleRing(
            capacity: max(
                device.configuration.rate / 5,
                AudioFormat.frames(in: bound) * device.configuration.rate / AudioFormat.sampleRate))
        self.ring = ring
        // Only the thread uses the worker from here on.
        nonisolated(unsafe) let worker = CaptureWorker(
            device: device, ring: ring, clock: clock, counters: counters, wakeup: wakeup, stopSignal: stopSignal)
        thread = AudioThread(name: "audio-capture") { worker.run(scheduling: $0) }
    }

    deinit {
        stop()
    }

    /// A descriptor that becomes readable when samples came; see ``clearWakeup()``.
    public var wakeupDescriptor: Int32 { wakeup.descriptor }

    public func clearWakeup() { wakeup.clear() }

    public var statistics: DeviceStatistics { counters.statistics(dropped: ring.dropped) }

    /// Ends the thread and closes the device. Harmless when repeated.
    public func stop() {
        counters.isStopping.store(true, ordering: .releasing)
        stopSignal.raise()
        thread.join()
    }
}

/// What the capture thread does. Nothing in its steady state allocates, locks or calls the concurrency runtime.
private final class CaptureWorker {
    private let name: String
    private var device: PCMDevice?
    private let configuration: PCMConfiguration
    private let ring: SampleRing
    private let clock: DeviceClock
    private let counters: DeviceCounters
    private let wakeup: WakeupSignal
    private let stopSignal: WakeupSignal

    private let blockFrames: Int
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
    /// Silence that stands in for sound which may still come; that sound is then too late.
    private var owed = 0

    init(
        device: PCMDevice, ring: SampleRing, clock: DeviceClock, counters: DeviceCounters, wakeup: WakeupSignal,
        stopSignal: WakeupSignal
    ) {
        name = device.name
        self.device = device
        configuration = device.configuration
        self.ring = ring
        self.clock = clock
        self.counters = counters
        self.wakeup = wakeup
        self.stopSignal = stopSignal
        blockFrames = max(configuration.periodFrames, configuration.rate / 50)
        let size = blockFrames * configuration.channels * configuration.format.width
        bytes = .allocate(byteCount: size, alignment: 16)
        // ALSA's `null` leaves it as it is.
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        mono = .allocate(capacity: blockFrames)
        descriptors = .allocate(capacity: Self.maximumDescriptors + 1)
        descriptors.initialize(repeating: pollfd(), count: Self.maximumDescriptors + 1)
        pace = PaceGuard(rate: configuration.rate, slack: 2 * configuration.periodFrames, start: 0)
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
            wait(for: device)
            move(from: device)
            fillStall()
        }
        device?.stop()
        device = nil
    }

    private func begin() {
        guard let device else { return }
        _ = device.start()
        let now = Self.now
        lastFlow = now
        pace = PaceGuard(rate: configuration.rate, slack: 2 * configuration.periodFrames, start: now)
        moved = 0
        pollCount = min(device.pollCount, Self.maximumDescriptors)
        device.fill(descriptors + 1, count: pollCount)
    }

    private func wait(for device: PCMDevice) {
        descriptors[0] = pollfd(fd: stopSignal.descriptor, events: Int16(POLLIN), revents: 0)
        if pace.isUnpaced {
            let pause = pace.wait(for: configuration.periodFrames, moved: moved, now: Self.now)
            poll(descriptors, 1, pause)
        } else {
            // Descriptors that are ready without anything to read would make this thread, which goes before all others,
            // spin.
            if moved == movedBeforeWait { poll(descriptors, 1, 3) }
            movedBeforeWait = moved
            poll(descriptors, nfds_t(1 + pollCount), 50)
            _ = device.events(descriptors + 1, count: pollCount)
        }
    }

    private func move(from device: PCMDevice) {
        while true {
            let available = device.available()
            if available < 0 { return handle(available, device) }
            let allowed = pace.allowance(available: available, moved: moved, now: Self.now)
            let wanted = min(allowed, blockFrames)
            guard wanted > 0 else {
                if allowed == 0, available > 0, !pace.isUnpaced { poll(descriptors, 1, 5) }
                return
            }
            let count = device.read(into: bytes, frames: wanted)
            if count < 0 {
                if Int32(-count) == EAGAIN { return }
                return handle(count, device)
            }
            guard count > 0 else { return }
            moved += count
            if isLate(count) { continue }
            configuration.format.toMono(bytes, channels: configuration.channels, frames: count, into: mono)
            edge.resume(mono, count: count)
            let now = Self.now
            lastFlow = now
            push(count)
            let pending = pace.isUnpaced ? 0 : device.delay()
            clock.set(
                frames: counters.frames.load(ordering: .relaxed),
                at: MonotonicTime(nanoseconds: now - Int64(pending) * 1_000_000_000 / Int64(configuration.rate)))
        }
    }

    private func push(_ count: Int) {
        ring.write(UnsafeBufferPointer(start: mono, count: count))
        counters.frames.wrappingAdd(count, ordering: .relaxed)
        wakeup.raise()
    }

    private func handle(_ code: Int, _ device: PCMDevice) {
        switch device.recover(from: code) {
        case .xrun: counters.xruns.wrappingAdd(1, ordering: .relaxed)
        case .suspended: counters.suspends.wrappingAdd(1, ordering: .relaxed)
        case .lost:
            lose()
            return
        }
        if device.start() < 0 { lose() } else { fill(until: Self.now) }
    }

    // MARK: Gaps

    /// A device that gives nothing for long is replaced by silence, so that the conversation goes on.
    private func fillStall() {
        let now = Self.now
        guard now - lastFlow > Self.patience else { return }
        if device?.isDisconnected == true { lose() }
        owed += fill(until: now)
    }

    private static let patience: Int64 = 300_000_000

    /// After a stall, whether these frames were replaced by silence already: they come as one burst, faster than time.
    private func isLate(_ count: Int) -> Bool {
        guard owed > 0 else { return false }
        let now = Self.now
        let due = Int((now - lastFlow) * Int64(configuration.rate) / 1_000_000_000)
        guard count > due + configuration.periodFrames else {
            // A flow in real time: what was missing will not come.
            owed = 0
            return false
        }
        owed -= min(owed, count)
        return true
    }

    /// Puts in as much silence as time has passed since the last samples.
    @discardableResult
    private func fill(until now: Int64) -> Int {
        let total = Int((now - lastFlow) * Int64(configuration.rate) / 1_000_000_000)
        var missing = total
        lastFlow = now
        while missing > 0 {
            let count = min(missing, blockFrames)
            edge.silence(mono, count: count)
            counters.silentFrames.wrappingAdd(count, ordering: .relaxed)
            push(count)
            missing -= count
        }
        return total
    }

    private func lose() {
        device = nil
        counters.isPresent.store(false, ordering: .relaxed)
        wakeup.raise()
    }

    /// Tries to open the device again every half second, and gives silence meanwhile. (Opening allocates; there is no
    /// audio to be late with.)
    private func waitForDevice() {
        for _ in 0..<25 {
            descriptors[0] = pollfd(fd: stopSignal.descriptor, events: Int16(POLLIN), revents: 0)
            poll(descriptors, 1, 20)
            if counters.isStopping.load(ordering: .acquiring) { return }
            fill(until: Self.now)
        }
        guard let found = try? PCMDevice(name: name, direction: .capture), found.configuration == configuration else {
            return
        }
        device = found
        counters.reconnects.wrappingAdd(1, ordering: .relaxed)
        counters.isPresent.store(true, ordering: .relaxed)
        let flow = lastFlow
        begin()
        lastFlow = flow
        fill(until: Self.now)
    }
}
