import CSpeexDSP

/// Converts one channel from one sample rate to another, streamed, without shifting it: the filter's delay is taken
/// off at the start and made up at the end, so `n` input samples become exactly `ceil(n * to / from)` output samples
/// and output sample `i` is at the time of input sample `i * from / to`.
public final class Resampler {
    public let inputRate: Int
    public let outputRate: Int
    private let state: OpaquePointer
    private var consumed = 0
    private var produced = 0

    /// - Parameters:
    ///   - inputRate, outputRate: Hz, 1,000 to 768,000.
    ///   - quality: 0 to 10, as in speexdsp. 8 leaves nothing audible.
    /// - Returns: nil for rates that cannot be converted, or without memory.
    public init?(from inputRate: Int, to outputRate: Int, quality: Int = 8) {
        let rates = 1_000...768_000
        guard rates.contains(inputRate), rates.contains(outputRate) else { return nil }
        var status: Int32 = 0
        guard
            let state = speex_resampler_init(
                1, UInt32(inputRate), UInt32(outputRate), Int32(min(max(quality, 0), 10)), &status)
        else { return nil }
        self.inputRate = inputRate
        self.outputRate = outputRate
        self.state = state
        speex_resampler_skip_zeros(state)
    }

    deinit {
        speex_resampler_destroy(state)
    }

    /// Converts `input` and appends what is ready to `output`. What is still in the filter comes with the next call.
    public func process(_ input: UnsafeBufferPointer<Float>, into output: inout [Float]) {
        consumed += input.count
        convert(input, into: &output, limit: .max)
    }

    /// Ends the stream: appends the rest, and makes ready for a new stream.
    public func finish(into output: inout [Float]) {
        let total = (consumed * outputRate + inputRate - 1) / inputRate
        let silence = [Float](repeating: 0, count: 256)
        var rounds = 0
        while produced < total && rounds < 4096 {
            silence.withUnsafeBufferPointer { convert($0, into: &output, limit: total - produced) }
            rounds += 1
        }
        if produced > total { output.removeLast(min(output.count, produced - total)) }
        consumed = 0
        produced = 0
        speex_resampler_reset_mem(state)
        speex_resampler_skip_zeros(state)
    }

    /// Converts `samples` and returns what is ready, as ``process(_:into:)`` does.
    public func process(_ samples: [Int16]) -> [Int16] {
        var output: [Float] = []
        output.reserveCapacity(samples.count * outputRate / inputRate + 1)
        process(samples, into: &output)
        return output.map(AudioFormat.sample)
    }

    private func process(_ samples: [Int16], into output: inout [Float]) {
        samples.map { Float($0) }.withUnsafeBufferPointer { process($0, into: &output) }
    }

    /// Ends the stream and returns the rest, as ``finish(into:)`` does.
    public func finish() -> [Int16] {
        var output: [Float] = []
        finish(into: &output)
        return output.map(AudioFormat.sample)
    }

    /// Converts a whole signal at once. Returns nil where `init` would.
    public static func convert(_ samples: [Int16], from inputRate: Int, to outputRate: Int) -> [Int16]? {
        guard inputRate != outputRate else { return samples }
        guard let resampler = Resampler(from: inputRate, to: outputRate) else { return nil }
        var output: [Float] = []
        output.reserveCapacity(samples.count * outputRate / inputRate + 1)
        resampler.process(samples, into: &output)
        resampler.finish(into: &output)
        return output.map(AudioFormat.sample)
    }

    private func convert(_ input: UnsafeBufferPointer<Float>, into output: inout [Float], limit: Int) {
        guard var next = input.baseAddress else { return }
        var left = input.count
        var room = limit
        while left > 0 && room > 0 {
            let chunk = min(room, left * outputRate / inputRate + 64)
            var taken = UInt32(min(left, Int(UInt32.max)))
            let written = [Float](unsafeUninitializedCapacity: chunk) { buffer, count in
                guard let base = buffer.baseAddress else { return }
                var made = UInt32(chunk)
                speex_resampler_process_float(state, 0, next, &taken, base, &made)
                count = Int(made)
            }
            output.append(contentsOf: written)
            produced += written.count
            room -= written.count
            next += Int(taken)
            left -= Int(taken)
            if taken == 0 && written.isEmpty { return }
        }
    }
}
