import Glibc
import LoopCore
import Synchronization

/// What the threads of both directions have in common: the device with its buffers, waiting for it without spinning,
/// losing it and finding it again. Used by one thread; what it does while sound flows neither allocates nor locks.
final class DeviceFlow {
    let configuration: PCMConfiguration
    let counters: DeviceCounters
    /// nil while it is lost.
    private(set) var device: PCMDevice?
    /// Frames that the buffers hold.
    let blockFrames: Int
    /// Interleaved frames of the device.
    let bytes: UnsafeMutableRawPointer
    /// The same in mono.
    let mono: UnsafeMutablePointer<Int16>
    private(set) var pace: PaceGuard
    /// Frames since the device was started.
    var moved = 0
    /// When the last of them were, ns.
    var lastMove: Int64 = 0

    private let name: String
    private let direction: AudioDeviceError.Direction
    private let slack: Int
    private let clock: DeviceClock
    private let stopSignal: WakeupSignal
    /// The stop signal and then the device's.
    private let descriptors: UnsafeMutablePointer<pollfd>
    private var pollCount = 0
    private var movedBeforeWait = -1

    private static let maximumDescriptors = 16

    /// - Parameter slack: frames by which a device may be ahead of time, see ``PaceGuard``.
    init(
        device: PCMDevice, blockFrames: Int, slack: Int, clock: DeviceClock, counters: DeviceCounters,
        stopSignal: WakeupSignal
    ) {
        configuration = device.configuration
        name = device.name
        direction = device.direction
        self.device = device
        self.blockFrames = blockFrames
        self.slack = slack
        self.clock = clock
        self.counters = counters
        self.stopSignal = stopSignal
        let size = blockFrames * configuration.channels * configuration.format.width
        bytes = .allocate(byteCount: size, alignment: 16)
        // ALSA's `null` leaves it as it is.
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        mono = .allocate(capacity: blockFrames)
        descriptors = .allocate(capacity: Self.maximumDescriptors + 1)
        descriptors.initialize(repeating: pollfd(), count: Self.maximumDescriptors + 1)
        descriptors[0] = pollfd(fd: stopSignal.descriptor, events: Int16(POLLIN), revents: 0)
        pace = PaceGuard(rate: configuration.rate, slack: slack, start: 0)
    }

    deinit {
        bytes.deallocate()
        mono.deallocate()
        descriptors.deallocate()
    }

    /// Nanoseconds of the monotonic clock.
    static var now: Int64 { MonotonicTime.now.nanoseconds }

    var isStopping: Bool { counters.isStopping.load(ordering: .acquiring) }

    /// The thread runs.
    func start(scheduling: AudioScheduling) {
        counters.scheduling.store(scheduling.rawValue, ordering: .relaxed)
        begin()
    }

    /// The device begins to flow, for the first time or again.
    func begin() {
        guard let device else { return }
        let now = Self.now
        lastMove = now
        pace = PaceGuard(rate: configuration.rate, slack: slack, start: now)
        moved = 0
        pollCount = min(device.pollCount, Self.maximumDescriptors)
        device.fill(descriptors + 1, count: pollCount)
    }

    func end() {
        device?.stop()
        device = nil
    }

    // MARK: Pace

    /// How many of the available frames may be moved now.
    func allowance(available: Int) -> Int { pace.allowance(available: available, moved: moved, now: Self.now) }

    /// Frames that pass between two times.
    func frames(since start: Int64, until end: Int64) -> Int {
        Int((end - start) * Int64(configuration.rate) / 1_000_000_000)
    }

    /// Says where the sample counter stands, `offset` frames from the time at which it was looked at.
    func stamp(at now: Int64, offset: Int) {
        clock.set(
            frames: counters.frames.load(ordering: .relaxed),
            at: MonotonicTime(nanoseconds: now + Int64(offset) * 1_000_000_000 / Int64(configuration.rate)))
    }

    // MARK: Waiting

    /// Waits, ms, unless the thread is to stop.
    func pause(_ milliseconds: Int32) {
        poll(descriptors, 1, milliseconds)
    }

    /// Waits until a device without a clock is due.
    func waitForTime() {
        pause(pace.wait(for: configuration.periodFrames, moved: moved, now: Self.now))
    }

    /// Waits for the device, at most so many ms.
    func waitUntilReady(atMost limit: Int32) {
        // Descriptors that are ready without anything to move would make this thread, which goes before all others, spin.
        if moved == movedBeforeWait { pause(3) }
        movedBeforeWait = moved
        poll(descriptors, nfds_t(1 + pollCount), limit)
        _ = device?.events(descriptors + 1, count: pollCount)
    }

    // MARK: Trouble

    /// Gets the device going again after an error, and counts it. Returns false when the device is lost.
    @discardableResult
    func recover(_ device: PCMDevice, from code: Int) -> Bool {
        switch device.recover(from: code) {
        case .xrun: counters.xruns.wrappingAdd(1, ordering: .relaxed)
        case .suspended: counters.suspends.wrappingAdd(1, ordering: .relaxed)
        case .lost:
            lose()
            return false
        }
        return true
    }

    func lose() {
        device = nil
        counters.isPresent.store(false, ordering: .relaxed)
    }

    /// Waits half a second, doing something every 20 ms, and then tries to open the device again. (Opening allocates;
    /// there is no sound to be late with.) ``begin()`` is to follow when it is there.
    func findDevice(meanwhile step: () -> Void) -> Bool {
        for _ in 0..<25 {
            pause(20)
            if isStopping { return false }
            step()
        }
        guard let found = try? PCMDevice(name: name, direction: direction), found.configuration == configuration else {
            return false
        }
        device = found
        counters.reconnects.wrappingAdd(1, ordering: .relaxed)
        counters.isPresent.store(true, ordering: .relaxed)
        return true
    }
}
