import Synchronization

/// What happened to a device so far. Lengths are in frames of its own rate.
public struct DeviceStatistics: Sendable, Equatable {
    /// Frames captured or played.
    public var frames = 0
    /// Overruns of capture or underruns of playback that the device reported.
    public var xruns = 0
    /// Times the machine slept in between.
    public var suspends = 0
    /// Times the device was lost (unplugged) and came back.
    public var reconnects = 0
    /// Frames of silence put in where the device had nothing (capture), or had to play something (playback).
    public var silentFrames = 0
    /// Frames that did not fit in the ring because nobody took them out.
    public var droppedFrames = 0
    /// The device is there now.
    public var isPresent = true
    public var scheduling = AudioScheduling.normal

    public init() {}
}

/// The counters behind ``DeviceStatistics``: written by the device's thread, read by any.
final class DeviceCounters: Sendable {
    let frames = Atomic<Int>(0)
    let xruns = Atomic<Int>(0)
    let suspends = Atomic<Int>(0)
    let reconnects = Atomic<Int>(0)
    let silentFrames = Atomic<Int>(0)
    let isPresent = Atomic<Bool>(true)
    let scheduling = Atomic<Int>(0)
    let isStopping = Atomic<Bool>(false)

    func statistics(dropped: Int) -> DeviceStatistics {
        var result = DeviceStatistics()
        result.frames = frames.load(ordering: .relaxed)
        result.xruns = xruns.load(ordering: .relaxed)
        result.suspends = suspends.load(ordering: .relaxed)
        result.reconnects = reconnects.load(ordering: .relaxed)
        result.silentFrames = silentFrames.load(ordering: .relaxed)
        result.isPresent = isPresent.load(ordering: .relaxed)
        result.scheduling = AudioScheduling(rawValue: scheduling.load(ordering: .relaxed)) ?? .normal
        result.droppedFrames = dropped
        return result
    }
}
