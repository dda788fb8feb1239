import Foundation
import Testing

@testable import AudioPipeline

@Suite struct SampleRingTests {
    @Test func keepsOrderAcrossItsEnd() {
        let ring = SampleRing(capacity: 10)
        var next: Int16 = 0
        var expected: Int16 = 0
        for size in [3, 7, 10, 1, 9, 4, 8] {
            let block = (0..<size).map { _ in
                defer { next += 1 }
                return next
            }
            #expect(ring.write(block) == size)
            #expect(ring.count == size)
            let read = ring.read(100)
            #expect(read == (0..<size).map { expected + Int16($0) })
            expected += Int16(size)
        }
        #expect(ring.dropped == 0)
        #expect(ring.written == 42)
    }

    @Test func dropsTheNewestWhenFullAndCounts() {
        let ring = SampleRing(capacity: 5)
        #expect(ring.write([1, 2, 3, 4]) == 4)
        #expect(ring.write([5, 6, 7]) == 1)
        #expect(ring.dropped == 2)
        #expect(ring.read(10) == [1, 2, 3, 4, 5])
        ring.write([8, 9])
        ring.skip(1)
        #expect(ring.read(10) == [9])
        ring.skip(5)
        #expect(ring.read(10) == [])
    }

    /// One thread writes and one reads, as fast as they can: everything comes, once, in order.
    @Test func handsOverBetweenThreads() async {
        let ring = SampleRing(capacity: 1_000)
        let total = 2_000_000
        let done = DispatchSemaphore(value: 0)
        let writer = Thread {
            var next = 0
            var block = [Int16](repeating: 0, count: 317)
            while next < total {
                let count = min(block.count, total - next, ring.capacity - ring.count)
                guard count > 0 else {
                    sched_yield()
                    continue
                }
                for index in 0..<count { block[index] = Int16(truncatingIfNeeded: next + index) }
                next += ring.write(Array(block[..<count]))
            }
            done.signal()
        }
        writer.start()
        let isInOrder = await withCheckedContinuation { continuation in
            Thread {
                var position = 0
                var isInOrder = true
                while position < total {
                    let samples = ring.read(173)
                    if samples.isEmpty { sched_yield() }
                    for sample in samples {
                        isInOrder = isInOrder && sample == Int16(truncatingIfNeeded: position)
                        position += 1
                    }
                }
                done.wait()
                continuation.resume(returning: isInOrder)
            }.start()
        }
        #expect(isInOrder)
        #expect(ring.dropped == 0)
    }
}

@Suite struct PCMFormatTests {
    @Test(arguments: PCMFormat.allCases, [1, 2, 6]) func carriesEverySample(_ format: PCMFormat, _ channels: Int) {
        let samples: [Int16] = [0, 1, -1, 255, -256, 12_345, -12_345, .max, .min]
        var bytes = [UInt8](repeating: 0xA5, count: samples.count * channels * format.width)
        bytes.withUnsafeMutableBytes { raw in
            samples.withUnsafeBufferPointer { input in
                guard let target = raw.baseAddress, let source = input.baseAddress else { return }
                format.fromMono(source, frames: samples.count, channels: channels, into: target)
            }
        }
        var mono = [Int16](repeating: 0, count: samples.count)
        bytes.withUnsafeBytes { raw in
            mono.withUnsafeMutableBufferPointer { output in
                guard let source = raw.baseAddress, let target = output.baseAddress else { return }
                format.toMono(source, channels: channels, frames: samples.count, into: target)
            }
        }
        // Two channels carry the sound; the mean over more is quieter.
        let expected = channels <= 2 ? samples : samples.map { Int16((Double($0) / 3).rounded()) }
        for (got, wanted) in zip(mono, expected) { #expect(abs(Int(got) - Int(wanted)) <= 1) }
        if channels <= 2 { #expect(mono == samples) }
    }

    @Test func badFloatsAreSilence() {
        let values: [Float] = [.nan, .infinity, -.infinity, 2, -2]
        var mono = [Int16](repeating: 7, count: values.count)
        values.withUnsafeBytes { raw in
            mono.withUnsafeMutableBufferPointer { output in
                guard let source = raw.baseAddress, let target = output.baseAddress else { return }
                PCMFormat.float.toMono(source, channels: 1, frames: values.count, into: target)
            }
        }
        #expect(mono == [0, .max, .min, .max, .min])
    }
}
