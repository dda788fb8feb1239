import AudioPipeline
import LoopCore

/// Encodes the user's samples and sends them on the track. While it holds them back for the pre-connect stream, the
/// track carries silence, so that it is there to be subscribed to. Confined to the loop.
///
/// Samples are numbered from the start of the session; the RTP timestamp of a frame is the number of its first sample
/// plus a constant, whether the samples before it were sent or not.
final class MicrophoneSender {
    /// Frames sent, silence included.
    private(set) var framesSent = 0
    /// Samples in a frame.
    let frameLength: Int
    var sentSeconds: Double { Double(framesSent * frameLength) / Double(AudioFormat.sampleRate) }

    private let track: LocalAudioTrack
    private let encoder: OpusEncoder
    private let timestampBase: UInt32
    private let silence: [Int16]
    private var queue: [Int16] = []
    /// The number of the first sample in `queue`.
    private var queueStart = 0
    private var buffer: PreConnectBuffer?
    private var wasSent = false

    /// - Parameter holding: keeps what is appended for the pre-connect stream until ``release()``.
    init(track: LocalAudioTrack, encoder: OpusEncoder, holding buffer: PreConnectBuffer?) {
        self.track = track
        self.encoder = encoder
        self.buffer = buffer
        frameLength = encoder.options.frameDuration.frames
        silence = [Int16](repeating: 0, count: frameLength)
        // RFC 3550 section 5.1: the first timestamp is random.
        timestampBase = .random(in: 0 ... .max)
        guard let buffer else { return }
        // What was held so far had no track: the track begins in the frame in which the buffer stands.
        let started = buffer.end % frameLength
        queueStart = buffer.end - started
        queue = [Int16](repeating: 0, count: started)
    }

    var isHolding: Bool { buffer != nil }
    /// Samples that were held back and had to be dropped.
    var droppedFrames: Int { buffer?.dropped ?? releasedDrops }
    private var releasedDrops = 0

    /// Takes the next samples of the user.
    func append(_ samples: [Int16]) throws(OpusError) {
        guard buffer != nil else {
            queue += samples
            return try sendFrames()
        }
        buffer?.append(samples)
        // Silence in their place.
        queue += repeatElement(0, count: samples.count)
        try sendFrames()
    }

    /// The samples for the stream that have come since the last call.
    func takeHeld() -> [Int16] { buffer?.take(frameLength: frameLength) ?? [] }

    /// Stops holding back: the live track goes on at the sample where the stream ends.
    /// - Returns: the end of what belongs to the stream.
    func release() throws(OpusError) -> [Int16] {
        guard var held = buffer else { return [] }
        let (stream, live) = held.split(frameLength: frameLength)
        releasedDrops = held.dropped
        buffer = nil
        // The silence that stood for `live` is replaced by it.
        queue.removeLast(min(queue.count, live.count))
        queue += live
        try sendFrames()
        return stream
    }

    private func sendFrames() throws(OpusError) {
        while queue.count >= frameLength {
            let frame = Array(queue[..<frameLength])
            queue.removeFirst(frameLength)
            let index = queueStart
            queueStart += frameLength
            guard track.isLive else { continue }
            try send(frame, index: index)
        }
    }

    private func send(_ frame: [Int16], index: Int) throws(OpusError) {
        let payload = try encode(frame)
        // In a silence with DTX the encoder gives next to nothing but every 400 ms.
        if encoder.lastFrameIsSilence {
            wasSent = false
            return
        }
        let sent = track.send(
            opus: payload, timestamp: timestampBase &+ UInt32(truncatingIfNeeded: index), marker: !wasSent,
            audioLevel: AudioLevel.dBov(frame))
        wasSent = sent
        if sent { framesSent += 1 }
    }

    private func encode(_ frame: [Int16]) throws(OpusError) -> [UInt8] {
        guard encoder.options.channels == 2 else { return try encoder.encode(frame) }
        return try encoder.encode(frame.flatMap { [$0, $0] })
    }

    /// Tells the encoder how much the receiver loses (0...1).
    func adapt(toLoss share: Double) {
        encoder.setExpectedPacketLoss(Int((share * 100).rounded(.up)))
    }
}
