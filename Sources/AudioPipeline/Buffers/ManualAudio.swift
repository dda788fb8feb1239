/// Audio between a session and a program that has its own source or sink: 48 kHz mono, pushed at one end and pulled at
/// the other, without a device. One thread may push and one may pull; neither waits.
public final class ManualAudio: Sendable {
    private let ring: SampleRing

    /// - Parameter bound: how much waits at most; what is pushed beyond it is dropped and counted.
    public init(bound: Duration = .seconds(2)) {
        ring = SampleRing(capacity: max(AudioFormat.framesPer20ms, AudioFormat.frames(in: bound)))
    }

    /// Appends samples. Returns how many fitted.
    @discardableResult
    public func push(_ samples: [Int16]) -> Int { ring.write(samples) }

    /// Takes at most `frames` samples out.
    public func pull(_ frames: Int) -> [Int16] { ring.read(frames) }

    /// Samples that wait.
    public var count: Int { ring.count }
    /// Samples that were dropped because nobody pulled.
    public var dropped: Int { ring.dropped }
}
