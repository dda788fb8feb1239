import AudioPipeline
import LiveKitProtocol

/// Writes the pre-connect audio as the byte stream that LiveKit's agents read: 16-bit mono PCM at 24 kHz, which is the
/// rate that they listen at.
struct PreConnectStream {
    static let topic = "lk.agent.pre-connect-audio-buffer"
    /// Hz.
    static let sampleRate = 24_000

    private var writer: DataStreamWriter
    private let resampler: Resampler
    /// Samples of 48 kHz written.
    private(set) var frames = 0

    /// - Returns: nil without memory.
    init?(streamID: String, agent: String) {
        guard let resampler = Resampler(from: AudioFormat.sampleRate, to: Self.sampleRate) else { return nil }
        self.resampler = resampler
        writer = DataStreamWriter(streamID: streamID, destinations: [agent])
    }

    /// - Parameter timestamp: milliseconds since 1970.
    func header(trackSid: String, timestamp: Int64) -> DataPacket {
        writer.byteHeader(
            topic: Self.topic, name: "preconnect-buffer",
            attributes: ["trackId": trackSid, "sampleRate": String(Self.sampleRate), "channels": "1"],
            timestamp: timestamp)
    }

    mutating func write(_ samples: [Int16]) -> [DataPacket] {
        frames += samples.count
        return packets(resampler.process(samples))
    }

    /// What is still in the filter, and the end.
    mutating func finish() -> [DataPacket] {
        packets(resampler.finish()) + [writer.trailer()]
    }

    private mutating func packets(_ samples: [Int16]) -> [DataPacket] {
        writer.write(samples.map(\.littleEndian).withUnsafeBytes { Array($0) })
    }
}
