import Foundation
import LoopCore
import Testing

/// An actor that lives on a loop, as every owner of transport objects does.
private actor Counter {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private(set) var ticks: [MonotonicTime] = []
    private var timer: LoopTimer?

    init(loop: EventLoop) { self.loop = loop }

    func onLoop() -> Bool { loop.isCurrent }

    func start(every interval: Duration, count: Int) async -> [MonotonicTime] {
        await withCheckedContinuation { continuation in
            timer = loop.schedule(every: interval, startingAt: .now + interval) { [self] in
                ticks.append(.now)
                if ticks.count == count {
                    timer = nil
                    continuation.resume(returning: ticks)
                }
            }
        }
    }

    func busyTick(blocking: Duration) async -> Int {
        await withCheckedContinuation { continuation in
            var calls = 0
            let start = MonotonicTime.now
            timer = loop.schedule(every: .milliseconds(5), startingAt: start + .milliseconds(5)) { [self] in
                calls += 1
                if calls == 1 { while MonotonicTime.now - start < blocking {} }
                if MonotonicTime.now - start >= .milliseconds(60) {
                    timer = nil
                    continuation.resume(returning: calls)
                }
            }
        }
    }

    private var calls = 0

    /// Drops a timer that is 20 intervals late from its own body.
    func dropLateInsideBody() async -> Int {
        timer = loop.schedule(every: .milliseconds(1), startingAt: .now - .milliseconds(20)) { [self] in
            calls += 1
            timer = nil
        }
        try? await Task.sleep(for: .milliseconds(30))
        return calls
    }

    func cancelInsideBody() async -> Int {
        timer = loop.schedule(every: .milliseconds(1), startingAt: .now) { [self] in
            calls += 1
            timer = nil
        }
        try? await Task.sleep(for: .milliseconds(30))
        return calls
    }
}

@Suite struct EventLoopTests {
    @Test func actorsRunOnTheLoopsThread() async {
        let loop = EventLoop()
        defer { loop.stop() }
        #expect(!loop.isCurrent)
        #expect(await Counter(loop: loop).onLoop())
    }

    @Test func blocksRunInOrder() async {
        let loop = EventLoop()
        defer { loop.stop() }
        let values = await withCheckedContinuation { continuation in
            let box = Box()
            for index in 0..<1000 { loop.execute { box.values.append(index) } }
            loop.execute { continuation.resume(returning: box.values) }
        }
        #expect(values == Array(0..<1000))
    }

    @Test func repeatingTimersDoNotDrift() async {
        let loop = EventLoop()
        defer { loop.stop() }
        let ticks = await Counter(loop: loop).start(every: .milliseconds(10), count: 21)
        let span = (ticks[20] - ticks[0]).milliseconds
        #expect(abs(span - 200) < 40)
    }

    @Test func aLateTimerCatchesUp() async {
        let loop = EventLoop()
        defer { loop.stop() }
        let calls = await Counter(loop: loop).busyTick(blocking: .milliseconds(40))
        #expect(calls >= 12)
    }

    @Test func aTimerMayBeDroppedByItsOwnBody() async {
        let loop = EventLoop()
        defer { loop.stop() }
        #expect(await Counter(loop: loop).cancelInsideBody() == 1)
        #expect(await Counter(loop: loop).dropLateInsideBody() == 1)
    }

    @Test func durationsConvert() {
        #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect((MonotonicTime(nanoseconds: 5) - MonotonicTime(nanoseconds: 2)).nanoseconds == 3)
    }
}

/// Written on the loop alone.
private final class Box: @unchecked Sendable {
    var values: [Int] = []
}
