/// A recording as a stream of equal frames with silence before and after, so that the listener's voice detection has
/// something to start from and hears the end of speech. On its way it notes where the speech in it is.
public final class AudioFileSource {
    public struct Options: Sendable {
        /// Silence before the file.
        public var leadIn = Duration.milliseconds(200)
        /// Silence after the file.
        public var trailing = Duration.seconds(1)
        /// Samples in a frame.
        public var frameLength = AudioFormat.framesPer20ms
        public var vad = EnergyVAD.Configuration()

        public init() {}
    }

    public let reader: any SampleReader
    public let options: Options
    /// Samples given out so far, silence included.
    public private(set) var position = 0
    /// Where the first speech begins, in samples of the stream (silence before the file counted).
    public private(set) var speechStart: Int?
    /// Where the last speech so far ends, in samples of the stream. Set when the silence after it has been seen,
    /// and at the latest at the end of the stream.
    public private(set) var speechEnd: Int?
    /// Where the file's own first sample is in the stream.
    public let fileStart: Int
    /// Where the file's last sample ends in the stream; nil until it has been read.
    public private(set) var fileEnd: Int?

    private var vad: EnergyVAD
    private var leadInLeft: Int
    private var trailingLeft: Int
    private var fileEnded = false
    private var lastActive: Int?
    /// Samples of silence given because the source had nothing yet.
    public private(set) var starvedFrames = 0

    public init(reader: any SampleReader, options: Options = Options()) {
        self.reader = reader
        self.options = options
        vad = EnergyVAD(configuration: options.vad)
        leadInLeft = AudioFormat.frames(in: options.leadIn)
        trailingLeft = AudioFormat.frames(in: options.trailing)
        fileStart = leadInLeft
    }

    /// Speech is going on (pauses shorter than the hangover included).
    public var isSpeech: Bool { vad.isSpeech }

    /// The next frame of `options.frameLength` samples, the last one filled up with silence; nil after the end.
    ///
    /// - Throws: `AudioFileError.readFailed`.
    public func next() throws(AudioFileError) -> [Int16]? {
        let length = options.frameLength
        var frame: [Int16] = []
        frame.reserveCapacity(length)
        if leadInLeft > 0 {
            let count = min(leadInLeft, length)
            frame.append(contentsOf: repeatElement(0, count: count))
            leadInLeft -= count
        }
        while frame.count < length && !fileEnded {
            let samples = try reader.read(frames: length - frame.count)
            frame.append(contentsOf: samples)
            guard samples.isEmpty else { continue }
            guard reader.isAtEnd else { break }
            fileEnded = true
            fileEnd = position + frame.count
        }
        if !fileEnded {
            starvedFrames += length - frame.count
            frame.append(contentsOf: repeatElement(0, count: length - frame.count))
        }
        if frame.count < length && trailingLeft > 0 {
            let count = min(trailingLeft, length - frame.count)
            frame.append(contentsOf: repeatElement(0, count: count))
            trailingLeft -= count
        }
        guard !frame.isEmpty else {
            if vad.isSpeech, let lastActive { speechEnd = lastActive }
            return nil
        }
        frame.append(contentsOf: repeatElement(0, count: length - frame.count))
        position += length
        note(vad.process(frame))
        return frame
    }

    private func note(_ events: [EnergyVAD.Event]) {
        if vad.isActive { lastActive = vad.position }
        for event in events {
            switch event {
            case .speechStarted(let at): speechStart = speechStart ?? at
            case .speechEnded(let at): speechEnd = at
            }
        }
    }
}
