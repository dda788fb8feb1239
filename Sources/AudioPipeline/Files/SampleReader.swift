/// Gives audio as 48 kHz mono samples, in order.
public protocol SampleReader: AnyObject {
    /// The next samples. Fewer than `frames` where no more are there: at the end for good, before it for now.
    /// - Throws: `AudioFileError`.
    func read(frames: Int) throws(AudioFileError) -> [Int16]
    /// Everything has been read.
    var isAtEnd: Bool { get }
    /// What is to be told about the source as far as it has been read.
    var warnings: [AudioFileWarning] { get }
}

extension AudioFileReader: SampleReader {}
