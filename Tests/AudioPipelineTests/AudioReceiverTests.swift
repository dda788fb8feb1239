import LoopCore
import Testing

@testable import AudioPipeline

@Suite struct AudioReceiverTests {
    /// Encodes `pcm` and returns the packet of each frame.
    private func encode(_ pcm: [Int16], _ change: (inout OpusEncoder.Options) -> Void = { _ in }) throws -> [[UInt8]] {
        var options = OpusEncoder.Options()
        change(&options)
        let encoder = try OpusEncoder(options)
        let length = options.frameDuration.frames
        return try stride(from: 0, to: pcm.count - length + 1, by: length).map {
            try encoder.encode(Array(pcm[$0..<($0 + length)]))
        }
    }

    private func run(_ simulation: NetworkSimulation, packets: [[UInt8]]) throws -> (
        sound: [Int16], statistics: PlayoutStatistics
    ) {
        let receiver = try AudioReceiver()
        var sound: [Int16] = []
        simulation.run(payload: { packets[$0] }) {
            receiver.insert($0)
        } pull: { now in
            let part = receiver.pull(frames: simulation.pullFrames, at: now)
            #expect(part.count == simulation.pullFrames)
            sound += part
        }
        return (sound, receiver.statistics)
    }

    @Test func silenceWhenNothingEverArrives() throws {
        let receiver = try AudioReceiver()
        for index in 0..<200 {
            let sound = receiver.pull(at: MonotonicTime(nanoseconds: Int64(index) * 10_000_000))
            #expect(sound == [Int16](repeating: 0, count: 480))
        }
        #expect(receiver.pull(frames: 0, at: .now) == [])
        #expect(receiver.pull(frames: -5, at: .now) == [])
    }

    @Test func aToneComesThroughClean() throws {
        let tone = Signals.tone(440, frames: 48_000 * 5)
        let packets = try encode(tone)
        let (sound, statistics) = try run(NetworkSimulation(seconds: 5), packets: packets)
        #expect(statistics.concealedFrames == 0)
        let middle = Array(sound[48_000..<192_000])
        #expect(abs(Signals.frequency(of: middle) - 440) < 0.5)
        #expect(abs(Signals.level(of: middle) + 6) < 0.5)
        // A 440 Hz sine at -6 dB steps by at most 946 a sample.
        #expect(Signals.largestStep(in: sound) < 1_150)
    }

    @Test func noClicksAtConcealment() throws {
        let tone = Signals.tone(300, frames: 48_000 * 20)
        let packets = try encode(tone) { $0.bitrate = 64_000 }
        for (loss, burst, fecLoss) in [(0.05, 1, 0), (0.02, 5, 0), (0.01, 20, 0), (0.1, 1, 20)] {
            let simulation = NetworkSimulation(seed: 4, seconds: 20, loss: loss, burst: burst, jitter: 5)
            let lossy = fecLoss > 0 ? try encode(tone) { $0.expectedPacketLoss = fecLoss } : packets
            let (sound, statistics) = try run(simulation, packets: lossy)
            #expect(statistics.concealedFrames > 0)
            // The tone itself steps by 645; a click would be many thousands.
            let step = Signals.largestStep(in: sound)
            #expect(step < 2_400, "loss \(loss), burst \(burst): \(step)")
        }
    }

    @Test func noClickWhenTheStreamStartsAndStops() throws {
        let tone = Signals.tone(300, frames: 48_000 * 10)
        let packets = try encode(tone) { $0.bitrate = 64_000 }
        let (sound, _) = try run(NetworkSimulation(seconds: 10, pauses: [2...2.3, 4...6, 8...20]), packets: packets)
        #expect(Signals.largestStep(in: sound) < 1_500, "\(Signals.largestStep(in: sound))")
        // Silent in the long pause, and at the end.
        #expect(sound[(48_000 * 5)..<(48_000 * 11 / 2)].allSatisfy { $0 == 0 })
        #expect(sound.suffix(24_000).allSatisfy { $0 == 0 })
    }

    @Test func concealmentFadesOut() throws {
        let tone = Signals.tone(300, frames: 48_000 * 3)
        let packets = try encode(tone)
        let receiver = try AudioReceiver()
        for index in 0..<50 {
            receiver.insert(
                payload: packets[index], timestamp: UInt32(index * 960), sequenceNumber: UInt16(index),
                arrival: MonotonicTime(nanoseconds: Int64(index) * 20_000_000))
        }
        var sound: [Int16] = []
        var now: Int64 = 50 * 20_000_000
        for _ in 0..<200 {
            sound += receiver.pull(at: MonotonicTime(nanoseconds: now))
            now += 10_000_000
        }
        let end = try #require(sound.lastIndex { $0 != 0 })
        #expect(sound.suffix(24_000).allSatisfy { $0 == 0 })
        #expect(end > 4_800)
        #expect(Signals.largestStep(in: sound) < 1_500)
    }

    @Test func fecIsUsed() throws {
        let speech = Signals.speechLike(frames: 48_000 * 20)
        let packets = try encode(speech) { $0.expectedPacketLoss = 20 }
        let (_, statistics) = try run(NetworkSimulation(seed: 2, seconds: 20, loss: 0.08, jitter: 5), packets: packets)
        #expect(statistics.recoveredByFEC > 20, "\(statistics)")
        #expect(statistics.recoveredByFEC <= statistics.lost)
    }

    @Test(arguments: [120, 240, 480, 960, 1_920, 2_880]) func everyFrameDuration(frames: Int) throws {
        // libopus makes 2.5 and 5 ms only in CELT mode; the encoder here starts at 10 ms, so the short ones are
        // made by hand: a code 0 packet of configuration 28 or 29 whose content is silence.
        let packets: [[UInt8]]
        if frames < 480 {
            packets = [[UInt8]](
                repeating: [UInt8(frames == 120 ? 28 : 29) << 3, 0xFF, 0xFE], count: 48_000 * 2 / frames)
        } else {
            let tone = Signals.tone(440, frames: 96_000)
            packets = try encode(tone) { $0.frameDuration = .init(rawValue: frames / 48) ?? .ms20 }
        }
        let (sound, statistics) = try run(NetworkSimulation(seconds: 1.9, packetFrames: frames), packets: packets)
        #expect(statistics.concealedFrames == 0, "\(statistics)")
        #expect(statistics.playedFrames > 80_000)
        if frames >= 480 { #expect(abs(Signals.level(of: Array(sound[24_000..<72_000])) + 6) < 0.7) }
    }

    @Test func packetsOfSeveralFrames() throws {
        // 120 ms: two 60 ms frames joined into one packet of code 2 (RFC 6716 section 3.2.4).
        let tone = Signals.tone(440, frames: 96_000 + 5_760)
        let singles = try encode(tone) {
            $0.frameDuration = .ms60
            $0.bitrate = 24_000
        }
        var packets: [[UInt8]] = []
        for index in stride(from: 0, to: singles.count - 1, by: 2) {
            let first = Array(singles[index].dropFirst())
            let second = Array(singles[index + 1].dropFirst())
            guard singles[index][0] == singles[index + 1][0] else {
                packets.append(singles[index])
                continue
            }
            let size =
                first.count < 252
                ? [UInt8(first.count)]
                : [UInt8(252 + first.count % 4), UInt8((first.count - 252 - first.count % 4) / 4)]
            packets.append([singles[index][0] | 2] + size + first + second)
        }
        #expect(packets.allSatisfy { OpusPacket($0)?.frames == 5_760 })
        let (sound, statistics) = try run(NetworkSimulation(seconds: 1.9, packetFrames: 5_760), packets: packets)
        #expect(statistics.concealedFrames == 0, "\(statistics)")
        #expect(abs(Signals.level(of: Array(sound[24_000..<72_000])) + 6) < 0.7)
    }

    @Test func discontinuousTransmission() throws {
        // Half a second of tone, a second of silence, and so on; the silent packets are not sent.
        let pcm = (0..<10).flatMap {
            $0 % 2 == 0 ? Signals.tone(300, frames: 24_000) : [Int16](repeating: 0, count: 48_000)
        }
        let packets = try encode(pcm) { $0.dtx = true }
        let receiver = try AudioReceiver()
        var sound: [Int16] = []
        var sequence: UInt16 = 0
        for (index, packet) in packets.enumerated() {
            let now = Int64(index) * 20_000_000
            if packet.count > 2 {
                receiver.insert(
                    payload: packet, timestamp: UInt32(index * 960), sequenceNumber: sequence,
                    arrival: MonotonicTime(nanoseconds: now))
                sequence &+= 1
            }
            sound += receiver.pull(frames: 960, at: MonotonicTime(nanoseconds: now + 1_000_000))
        }
        let statistics = receiver.statistics
        #expect(statistics.lost == 0)
        #expect(statistics.late == 0)
        #expect(statistics.concealedFrames == 0, "\(statistics)")
        #expect(statistics.comfortFrames > 24_000, "\(statistics)")
        #expect(Signals.largestStep(in: sound) < 1_500)
    }

    /// The bundled sentence, sent over a bad network, is heard as one turn with its ends in the right place.
    @Test(arguments: [0.0, 0.05], [0.0, 30]) func aSentenceIsOneTurn(loss: Double, jitter: Double) throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        var options = AudioFileSource.Options()
        options.trailing = .seconds(2)
        let source = AudioFileSource(
            reader: try AudioFileReader(path: "/\(root)/config/demo/hello.wav"), options: options)
        var pcm: [Int16] = []
        while let frame = try source.next() { pcm += frame }
        let packets = try encode(pcm)
        let seconds = Double(packets.count) / 50
        let (sound, statistics) = try run(
            NetworkSimulation(seed: 8, seconds: seconds, loss: loss, jitter: jitter), packets: packets)
        var vad = EnergyVAD()
        let events = vad.process(sound)
        #expect(events.count == 2, "\(events)")
        guard case .speechStarted(let start)? = events.first, case .speechEnded(let end)? = events.last else { return }
        let delay = AudioFormat.frames(in: statistics.currentDelay) + 240
        #expect(abs(start - delay - (source.speechStart ?? 0)) < 2_400, "\(start) \(delay)")
        #expect(abs(end - delay - (source.speechEnd ?? 0)) < 2_400, "\(end) \(delay)")
    }

    @Test func garbageNeverCrashes() throws {
        var generator = SeededGenerator(seed: 21)
        let receiver = try AudioReceiver()
        for index in 0..<2_000 {
            let length = Int.random(in: 0...80, using: &generator)
            receiver.insert(
                payload: (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) },
                timestamp: UInt32(truncatingIfNeeded: index * 960), sequenceNumber: UInt16(truncatingIfNeeded: index),
                isRedundant: index % 5 == 0, arrival: MonotonicTime(nanoseconds: Int64(index) * 20_000_000))
            let sound = receiver.pull(frames: 960, at: MonotonicTime(nanoseconds: Int64(index) * 20_000_000))
            #expect(sound.count == 960)
        }
    }
}
