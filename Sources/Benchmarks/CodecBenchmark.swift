import AudioPipeline
import COpus
import LoopCore

/// The baseline, and the audio path against it.
enum CodecBenchmark {
    struct Failure: Error {
        var message: String
    }

    static let seconds = 60

    /// CPU seconds of libopus alone, called directly: encoding and decoding `frames` with the settings of a session.
    static func bareOpus(_ frames: [[Int16]]) throws -> Double {
        try leastCPUSeconds {
            var status: Int32 = 0
            guard let encoder = opus_encoder_create(48_000, 1, OPUS_APPLICATION_VOIP, &status),
                let decoder = opus_decoder_create(48_000, 1, &status)
            else { throw Failure(message: "libopus: \(status)") }
            defer {
                opus_encoder_destroy(encoder)
                opus_decoder_destroy(decoder)
            }
            let options = OpusEncoder.Options()
            opus_encoder_set(encoder, OPUS_SET_BITRATE_REQUEST, Int32(options.bitrate))
            opus_encoder_set(encoder, OPUS_SET_COMPLEXITY_REQUEST, Int32(options.complexity))
            opus_encoder_set(encoder, OPUS_SET_INBAND_FEC_REQUEST, options.fec ? 1 : 0)
            opus_encoder_set(encoder, OPUS_SET_PACKET_LOSS_PERC_REQUEST, Int32(options.expectedPacketLoss))
            opus_encoder_set(encoder, OPUS_SET_LSB_DEPTH_REQUEST, 16)
            var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketSize)
            var output = [Int16](repeating: 0, count: 5_760)
            for frame in frames {
                let size = opus_encode(encoder, frame, 960, &packet, Int32(packet.count))
                guard size > 0, opus_decode(decoder, packet, size, &output, 5_760, 0) == 960 else {
                    throw Failure(message: "libopus: \(size)")
                }
            }
        }
    }

    /// CPU seconds of the audio path of a session without its transport: file, resampler, voice detection, pacing,
    /// encoder; jitter buffer, decoder. And what the receiver says of it.
    static func audioPath(frames: Int) throws -> (cpu: Double, statistics: PlayoutStatistics) {
        var statistics = PlayoutStatistics()
        let cpu = try leastCPUSeconds {
            let encoder = try OpusEncoder()
            let receiver = try AudioReceiver()
            var speech = try Speech()
            var pacer = FramePacer(start: MonotonicTime(nanoseconds: 0))
            for index in 0..<frames {
                let now = pacer.nextDeadline
                _ = pacer.takeDue(at: now)
                let frame = try speech.next()
                receiver.insert(
                    payload: try encoder.encode(frame), timestamp: UInt32(truncatingIfNeeded: index * 960),
                    sequenceNumber: UInt16(truncatingIfNeeded: index), arrival: now)
                _ = receiver.pull(at: now)
                _ = receiver.pull(at: now + .milliseconds(10))
            }
            statistics = receiver.statistics
        }
        return (cpu, statistics)
    }

    static func figures() throws -> [Figure] {
        let frames = try Speech.frames(seconds * 50)
        let bare = try bareOpus(frames)
        let path = try audioPath(frames: frames.count)
        return [
            Figure(
                name: "libopus alone, encode + decode, CPU", value: bare / Double(seconds) * 100, unit: "%",
                target: .none, note: "of one core; the baseline of the ratios below"),
            Figure(
                name: "audio path (file to packets, packets to sound) / libopus", value: path.cpu / bare, unit: "x",
                target: .atMost(1.25), note: "without transport and signaling"),
            Figure(
                name: "jitter buffer delay, clean network", value: path.statistics.currentDelay.milliseconds,
                unit: "ms", target: .atMost(40), note: "wire to speaker, beyond the sound device"),
        ]
    }
}
