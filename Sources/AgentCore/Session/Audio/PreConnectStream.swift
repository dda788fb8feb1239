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
        var converted: [Float] = []
        samples.map { Float($0) }.withUnsafeBufferPointer { resampler.process($0, into: &converted) }
        frames += samples.count
        return packets(converted)
    }

    /// What is still in the filter, and the end.
    mutating func finish() -> [DataPacket] {
        var converted: [Float] = []
        resampler.finish(into: &converted)
        return packets(converted) + [writer.trailer()]
    }

    private mutating func packets(_ samples: [Float]) -> [DataPacket] {
        guard !samples.isEmpty else { return [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * samples.count)
        for sample in samples {
            let value = UInt16(bitPattern: Int16(max(-32_768, min(32_767, sample.rounded()))))
            bytes.append(UInt8(truncatingIfNeeded: value))
            bytes.append(UInt8(value >> 8))
        }
        return writer.write(bytes)
    }
}
