import AllocationCounter
import AudioPipeline
import Foundation
import LoopCore

/// Runs a capture and a playback device for some seconds, moving samples as a session does, and prints what their
/// threads did: `realtime-probe SECONDS MICROPHONE SPEAKER [allocate]`. With `allocate` a thread of that kind does what
/// it must not, to show that it would be seen.
let arguments = CommandLine.arguments
guard arguments.count >= 4, let seconds = Double(arguments[1]) else {
    FileHandle.standardError.write(Data("usage: realtime-probe SECONDS MICROPHONE SPEAKER [allocate]\n".utf8))
    exit(2)
}
guard let microphone = try? CaptureDevice(name: arguments[2]), let speaker = try? PlaybackDevice(name: arguments[3])
else {
    FileHandle.standardError.write(Data("a device cannot be opened\n".utf8))
    exit(6)
}
// The devices' first moments, in which libraries set themselves up, do not count.
usleep(1_000_000)
_ = microphone.ring.read(microphone.ring.capacity)
allocation_counter_reset()
let before = microphone.statistics
let started = MonotonicTime.now
if arguments.last == "allocate" {
    Thread {
        allocation_counter_watch_thread()
        let block = UnsafeMutablePointer<UInt8>.allocate(capacity: 100)
        block.initialize(repeating: 1, count: 100)
        block.deallocate()
        let lock = NSLock()
        lock.lock()
        lock.unlock()
    }.start()
}
var moved = 0
while (MonotonicTime.now - started).inSeconds < seconds {
    usleep(10_000)
    let samples = microphone.ring.read(microphone.ring.capacity)
    moved += samples.count
    speaker.ring.write(samples)
}
let after = microphone.statistics
let elapsed = (MonotonicTime.now - started).inSeconds
print(
    "{\"allocations\":\(allocation_counter_allocations()),\"frees\":\(allocation_counter_frees()),"
        + "\"locks\":\(allocation_counter_locks()),\"frames\":\(moved),\"seconds\":\(elapsed),"
        + "\"rate\":\(microphone.configuration.rate),\"xruns\":\(after.xruns - before.xruns),"
        + "\"dropped\":\(after.droppedFrames),\"silent\":\(after.silentFrames - before.silentFrames),"
        + "\"scheduling\":\"\(after.scheduling)\"}")
microphone.stop()
speaker.stop()
