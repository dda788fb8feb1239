/// Joins sound and inserted silence without clicks: the last sample dies away, and sound that resumes is faded in.
/// Works in place, without allocating.
struct SilenceEdge {
    private var last: Int16 = 0
    private var decay = 0
    private var rise = 0
    private static let decayLength = 240
    private static let riseLength = 240

    /// Turns the buffer into silence that follows on the sound before it.
    mutating func silence(_ samples: UnsafeMutablePointer<Int16>, count: Int) {
        for index in 0..<count {
            if last != 0, decay < Self.decayLength {
                let left = Self.decayLength - decay
                // Squared, so that the slope ends flat.
                samples[index] = Int16(Int(last) * left * left / (Self.decayLength * Self.decayLength))
                decay += 1
            } else {
                last = 0
                samples[index] = 0
            }
        }
        rise = Self.riseLength
    }

    /// Takes sound; fades it in if there was silence before.
    mutating func resume(_ samples: UnsafeMutablePointer<Int16>, count: Int) {
        guard count > 0 else { return }
        if rise > 0 {
            for index in 0..<count where rise > 0 {
                samples[index] = Int16(Int(samples[index]) * (Self.riseLength - rise) / Self.riseLength)
                rise -= 1
            }
        }
        last = samples[count - 1]
        decay = 0
    }
}
