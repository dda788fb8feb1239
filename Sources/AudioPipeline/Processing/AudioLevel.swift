import Glibc

/// Loudness of a stretch of audio.
public enum AudioLevel {
    /// The level as RFC 6464 puts it on the wire: the RMS in -dBov, 0 (a full-scale square wave) to 127 (silence).
    public static func dBov(_ samples: some Collection<Int16>) -> UInt8 {
        let level = decibels(samples)
        return UInt8(min(127, max(0, -level.rounded())))
    }

    /// The RMS in dB relative to a full-scale square wave: 0 or less, -127 for silence.
    public static func decibels(_ samples: some Collection<Int16>) -> Double {
        guard !samples.isEmpty else { return -127 }
        let energy =
            samples.withContiguousStorageIfAvailable { buffer in
                var sum: Int64 = 0
                for sample in buffer { sum &+= Int64(sample) &* Int64(sample) }
                return sum
            } ?? samples.reduce(Int64(0)) { $0 &+ Int64($1) &* Int64($1) }
        guard energy > 0 else { return -127 }
        let mean = Double(energy) / Double(samples.count)
        return max(-127, 10 * log10(mean / (32_768 * 32_768)))
    }
}
