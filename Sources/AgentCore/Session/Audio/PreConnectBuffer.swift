import AudioPipeline

/// What was said before the agent could hear it: the newest samples up to a bound, to be handed to the agent as a byte
/// stream; the live track goes on at the sample where the stream ends. Pure.
///
/// Samples are numbered from the start of the session.
struct PreConnectBuffer: Sendable {
    /// The number of the next sample.
    private(set) var end = 0
    private var samples: SampleQueue

    /// - Parameter limit: samples kept at most.
    init(limit: Int) {
        // Whole pairs, as all that comes is: half the rate starts on a sample.
        samples = SampleQueue(capacity: max(2, limit / 2 * 2))
    }

    /// Samples that were dropped, the oldest, because nobody could take them in time.
    var dropped: Int { samples.dropped }

    /// Takes the next frame of the user, an even number of samples.
    mutating func append(_ new: [Int16]) {
        samples.append(new)
        end += new.count
    }

    /// The samples that were not handed out yet, up to the last boundary between frames of `frameLength` samples.
    mutating func take(frameLength: Int) -> [Int16] {
        samples.take(samples.count - end % frameLength)
    }

    /// Ends the stream at the last boundary between frames of `frameLength` samples.
    /// - Returns: what belongs to the stream still, and what the live track begins with.
    mutating func split(frameLength: Int) -> (stream: [Int16], live: [Int16]) {
        (take(frameLength: frameLength), samples.take(samples.count))
    }
}
