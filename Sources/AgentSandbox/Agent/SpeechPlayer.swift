import AudioPipeline

/// Sends the agent's voice as Opus frames of 20 ms, and silence in between, as a microphone would. Driven every 20 ms;
/// confined to the loop.
final class SpeechPlayer {
    /// One frame for the wire.
    struct Frame {
        var payload: [UInt8]
        /// 48 kHz.
        var timestamp: UInt32
        var marker: Bool
        /// -dBov.
        var level: UInt8
    }

    private let encoder: OpusEncoder
    private var utterance: Utterance?
    private var position = 0
    private var nextWord = 0
    private var timestamp = UInt32.random(in: 0 ... .max)
    private var isFirst = true
    private var silentFrames = 0
    private var cachedSilence: [UInt8] = []

    /// Words whose sound begins in the frame that is sent.
    var onWords: ((String) -> Void)?
    /// The utterance has been sent.
    var onEnd: (() -> Void)?

    /// - Throws: `OpusError`.
    init() throws(OpusError) {
        var options = OpusEncoder.Options()
        options.complexity = 5
        encoder = try OpusEncoder(options)
    }

    var isPlaying: Bool { utterance != nil }

    /// Starts an utterance; one that is going on is cut off.
    func play(_ utterance: Utterance) {
        self.utterance = utterance
        position = 0
        nextWord = 0
        isFirst = true
    }

    /// Cuts off what is being said. `onEnd` does not follow.
    func stop() {
        utterance = nil
    }

    /// The next 20 ms; nil when they cannot be encoded.
    func nextFrame() -> Frame? {
        defer { timestamp &+= UInt32(AudioFormat.framesPer20ms) }
        guard let utterance else { return silence() }
        let end = min(position + AudioFormat.framesPer20ms, utterance.samples.count)
        var samples = Array(utterance.samples[position..<end])
        samples += [Int16](repeating: 0, count: AudioFormat.framesPer20ms - samples.count)
        position = end
        let isLast = position >= utterance.samples.count
        if isLast { self.utterance = nil }
        silentFrames = 0
        let payload = try? encoder.encode(samples)
        let marker = isFirst
        isFirst = false
        sayWords(of: utterance, until: isLast ? .max : position)
        // The words may have had the player stopped or given something new to say.
        if isLast, self.utterance == nil { onEnd?() }
        return payload.map {
            Frame(payload: $0, timestamp: timestamp, marker: marker, level: AudioLevel.dBov(samples))
        }
    }

    private func sayWords(of utterance: Utterance, until position: Int) {
        while nextWord < utterance.words.count, utterance.words[nextWord].start < position {
            let word = utterance.words[nextWord]
            nextWord += 1
            onWords?(word.text)
        }
    }

    /// Real silence until the encoder has settled, then the same frame again and again.
    private func silence() -> Frame? {
        silentFrames += 1
        if silentFrames <= 25 || cachedSilence.isEmpty {
            guard let made = try? encoder.encode([Int16](repeating: 0, count: AudioFormat.framesPer20ms)) else {
                return nil
            }
            cachedSilence = made
        }
        return Frame(payload: cachedSilence, timestamp: timestamp, marker: false, level: 127)
    }
}
