import AudioPipeline

/// A file that is played over and over, such as the noise of a café.
final class LoopedFile {
    private let path: String
    private let gain: Float
    private var reader: AudioFileReader?

    /// - Parameter gain: dB.
    /// - Throws: `AudioFileError`.
    init(path: String, gain: Double) throws(AudioFileError) {
        self.path = path
        self.gain = GainRamp.factor(decibels: gain)
        reader = try AudioFileReader(path: path)
    }

    /// Adds the next stretch of it to `samples`.
    func mix(into samples: inout [Int16]) {
        var index = 0
        while index < samples.count, let reader {
            let next = (try? reader.read(frames: samples.count - index)) ?? []
            if next.isEmpty {
                // A file that cannot be read again is over.
                self.reader = reader.framesRead > 0 ? try? AudioFileReader(path: path) : nil
                continue
            }
            for sample in next {
                samples[index] = AudioFormat.sample(Float(samples[index]) + Float(sample) * gain)
                index += 1
            }
        }
    }
}
