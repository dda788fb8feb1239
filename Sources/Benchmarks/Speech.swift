import AudioPipeline

/// The speech that everything is measured with: the bundled sentence, with the silence around it that a session
/// sends, over and over.
struct Speech {
    /// The folder of the package.
    static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    /// The path of the bundled sentence.
    static let path = root + "/config/demo/hello.wav"

    private var source: AudioFileSource

    init() throws {
        source = AudioFileSource(reader: try AudioFileReader(path: Self.path))
    }

    /// The next 20 ms at 48 kHz, read from the file.
    mutating func next() throws -> [Int16] {
        if let frame = try source.next() { return frame }
        self = try Speech()
        return try source.next() ?? []
    }

    /// The frames of the first `count` calls of `next`.
    static func frames(_ count: Int) throws -> [[Int16]] {
        var speech = try Speech()
        return try (0..<count).map { _ in try speech.next() }
    }
}
