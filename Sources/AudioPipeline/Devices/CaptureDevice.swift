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
    private let flow: DeviceFlow
    private let ring: SampleRing
    private let wakeup: WakeupSignal
    private var edge = SilenceEdge()
    /// Silence that stands in for sound which may still come; that sound is then too late.
    private var owed = 0

    /// A device that gives nothing for so long is replaced by silence, ns.
    private static let patience: Int64 = 300_000_000

    init(
        device: PCMDevice, ring: SampleRing, clock: DeviceClock, counters: DeviceCounters, wakeup: WakeupSignal,
        stopSignal: WakeupSignal
    ) {
        let configuration = device.configuration
        flow = DeviceFlow(
            device: device, blockFrames: max(configuration.periodFrames, configuration.rate / 50),
            slack: 2 * configuration.periodFrames, clock: clock, counters: counters, stopSignal: stopSignal)
        self.ring = ring
        self.wakeup = wakeup
    }

    func run(scheduling: AudioScheduling) {
        _ = flow.device?.start()
        flow.start(scheduling: scheduling)
        while !flow.isStopping {
            guard let device = flow.device else {
                waitForDevice()
                continue
            }
            if flow.pace.isUnpaced { flow.waitForTime() } else { flow.waitUntilReady(atMost: 50) }
            move(from: device)
            fillStall()
        }
        flow.end()
    }

    private func move(from device: PCMDevice) {
        while true {
            let available = device.available()
            if available < 0 { return handle(available, device) }
            let allowed = flow.allowance(available: available)
            let wanted = min(allowed, flow.blockFrames)
            guard wanted > 0 else {
                if allowed == 0, available > 0, !flow.pace.isUnpaced { flow.pause(5) }
                return
            }
            let count = device.read(into: flow.bytes, frames: wanted)
            if count < 0 {
                if Int32(-count) == EAGAIN { return }
                return handle(count, device)
            }
            guard count > 0 else { return }
            flow.moved += count
            if isLate(count) { continue }
            let configuration = flow.configuration
            configuration.format.toMono(flow.bytes, channels: configuration.channels, frames: count, into: flow.mono)
            edge.resume(flow.mono, count: count)
            let now = DeviceFlow.now
            flow.lastMove = now
            push(count)
            flow.stamp(at: now, offset: flow.pace.isUnpaced ? 0 : -device.delay())
        }
    }

    private func push(_ count: Int) {
        ring.write(UnsafeBufferPointer(start: flow.mono, count: count))
        flow.counters.frames.wrappingAdd(count, ordering: .relaxed)
        wakeup.raise()
    }

    private func handle(_ code: Int, _ device: PCMDevice) {
        guard flow.recover(device, from: code) else { return wakeup.raise() }
        if device.start() < 0 { lose() } else { fill(until: DeviceFlow.now) }
    }

    private func lose() {
        flow.lose()
        wakeup.raise()
    }

    // MARK: Gaps

    private func fillStall() {
        let now = DeviceFlow.now
        guard now - flow.lastMove > Self.patience else { return }
        if flow.device?.isDisconnected == true { lose() }
        owed += fill(until: now)
    }

    /// After a stall, whether these frames were replaced by silence already: they come as one burst, faster than time.
    private func isLate(_ count: Int) -> Bool {
        guard owed > 0 else { return false }
        guard count > flow.frames(since: flow.lastMove, until: DeviceFlow.now) + flow.configuration.periodFrames else {
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
        let total = flow.frames(since: flow.lastMove, until: now)
        var missing = total
        flow.lastMove = now
        while missing > 0 {
            let count = min(missing, flow.blockFrames)
            edge.silence(flow.mono, count: count)
            flow.counters.silentFrames.wrappingAdd(count, ordering: .relaxed)
            push(count)
            missing -= count
        }
        return total
    }

    /// Gives silence until the device is there again.
    private func waitForDevice() {
        guard flow.findDevice(meanwhile: { fill(until: DeviceFlow.now) }) else { return }
        let lastMove = flow.lastMove
        _ = flow.device?.start()
        flow.begin()
        flow.lastMove = lastMove
        fill(until: DeviceFlow.now)
    }
}
