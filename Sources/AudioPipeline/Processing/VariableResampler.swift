import CSpeexDSP

/// Converts one channel from one rate to another whose relation may be changed a little at any time, to follow the
/// drift between two clocks. The delay of its filter (about 1 ms) stays in.
public final class VariableResampler {
    private let state: OpaquePointer
    private let inputRate: Int
    private let outputRate: Int
    private var deviation = 0

    /// Changes below this are not worth a new filter.
    private static let step = 5

    /// - Returns: nil for rates outside 4 to 384 kHz, or without memory.
    public init?(from inputRate: Int, to outputRate: Int) {
        guard (4_000...384_000).contains(inputRate), (4_000...384_000).contains(outputRate) else { return nil }
        var status: Int32 = 0
        guard let state = speex_resampler_init(1, UInt32(inputRate), UInt32(outputRate), 5, &status) else {
            return nil
        }
        self.state = state
        self.inputRate = inputRate
        self.outputRate = outputRate
    }

    deinit {
        speex_resampler_destroy(state)
    }

    /// Makes the output longer by so many parts per million (shorter where negative), -5,000...5,000.
    public func setDeviation(ppm: Double) {
        let wanted = Int(max(-5_000, min(5_000, ppm)).rounded())
        guard abs(wanted - deviation) >= Self.step else { return }
        deviation = wanted
        let divisor = Self.greatestDivisor(inputRate, outputRate)
        // In fine parts, so that the deviation can be expressed; the fraction has to fit in 32 bits.
        let numerator = inputRate / divisor * 100_000
        let denominator = outputRate / divisor * 100_000
        let stretched = denominator + denominator * wanted / 1_000_000
        guard numerator < 1 << 31, stretched < 1 << 31 else { return }
        speex_resampler_set_rate_frac(
            state, UInt32(numerator), UInt32(stretched), UInt32(inputRate), UInt32(outputRate))
    }

    public func process(_ samples: [Int16]) -> [Int16] {
        var output: [Int16] = []
        var done = 0
        while done < samples.count {
            let chunk = (samples.count - done) * outputRate / inputRate + 64
            var taken = UInt32(samples.count - done)
            let made = [Int16](unsafeUninitializedCapacity: chunk) { buffer, count in
                var length = UInt32(chunk)
                samples.withUnsafeBufferPointer { input in
                    guard let base = input.baseAddress, let target = buffer.baseAddress else { return }
                    speex_resampler_process_int(state, 0, base + done, &taken, target, &length)
                    count = Int(length)
                }
            }
            done += Int(taken)
            output += made
            if taken == 0, made.isEmpty { break }
        }
        return output
    }

    private static func greatestDivisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : greatestDivisor(b, a % b) }
}
