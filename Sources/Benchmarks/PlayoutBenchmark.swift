import AudioPipeline
import LoopCore

/// What the jitter buffer itself costs.
enum PlayoutBenchmark {
    static func figures() -> [Figure] {
        let count = 100_000
        let cpu = leastCPUSeconds {
            var buffer = JitterBuffer()
            for index in 0..<count {
                let now = MonotonicTime(nanoseconds: Int64(index) * 20_000_000)
                buffer.insert(
                    JitterBuffer.Frame(
                        payload: [31 << 3, 0, 0], timestamp: UInt32(truncatingIfNeeded: index * 960),
                        sequenceNumber: UInt16(truncatingIfNeeded: index), arrival: now))
                _ = buffer.pull(at: now + .milliseconds(1))
            }
        }
        return [
            Figure(
                name: "jitter buffer, insert + pull", value: cpu / Double(count) * 1e6, unit: "us", target: .none,
                note: "a packet")
        ]
    }
}
