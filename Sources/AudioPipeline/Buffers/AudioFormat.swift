/// The one format of audio inside the program: 48 kHz, mono, Int16, handled in units of 10 ms. Files and devices
/// convert at the edges.
public enum AudioFormat {
    /// Samples a second (Hz).
    public static let sampleRate = 48_000
    /// Samples in the 10 ms unit.
    public static let framesPer10ms = 480
    /// Samples in the usual Opus frame of 20 ms.
    public static let framesPer20ms = 960

    /// The sample nearest to a value in the range of Int16; what is beyond it is limited.
    @inline(__always)
    public static func sample(_ value: Float) -> Int16 { Int16(max(-32_768, min(32_767, value.rounded()))) }

    /// How long `frames` samples last.
    public static func duration(ofFrames frames: Int) -> Duration {
        .nanoseconds(Int64(frames) * 1_000_000 / 48)
    }

    /// How many whole samples fit in `duration`; 0 for a negative one.
    public static func frames(in duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0, seconds < 1 << 40 else { return 0 }
        return Int(seconds) * sampleRate + Int(attoseconds / 1_000_000_000) * sampleRate / 1_000_000_000
    }
}
