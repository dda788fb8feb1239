/// What was said before the agent could hear it: the newest samples up to a bound, to be handed to the agent as a byte
/// stream; the live track goes on at the sample where the stream ends. Pure.
///
/// Samples are numbered from the start of the session.
struct PreConnectBuffer: Sendable {
    /// Samples kept at most.
    let limit: Int
    /// Samples that were dropped, the oldest, because nobody could take them in time.
    private(set) var dropped = 0
    /// The number of the next sample.
    private(set) var end = 0
    private var samples: [Int16] = []

    init(limit: Int) {
        // Whole pairs, so that half the rate starts on a sample.
        self.limit = max(2, limit / 2 * 2)
    }

    /// Samples that are kept.
    var count: Int { samples.count }

    mutating func append(_ new: [Int16]) {
        samples += new
        end += new.count
        guard samples.count > limit else { return }
        let excess = (samples.count - limit + 1) / 2 * 2
        samples.removeFirst(excess)
        dropped += excess
    }

    /// The samples that were not handed out yet, up to the last boundary between frames of `frameLength` samples.
    mutating func take(frameLength: Int) -> [Int16] {
        let rest = end % frameLength
        guard samples.count > rest else { return [] }
        let cut = samples.count - rest
        defer { samples.removeFirst(cut) }
        return Array(samples[..<cut])
    }

    /// Ends the stream at the last boundary between frames of `frameLength` samples.
    /// - Returns: what belongs to the stream still, and what the live track begins with.
    mutating func split(frameLength: Int) -> (stream: [Int16], live: [Int16]) {
        let stream = take(frameLength: frameLength)
        defer { samples = [] }
        return (stream, samples)
    }
}
