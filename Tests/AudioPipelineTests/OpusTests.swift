import Testing

@testable import AudioPipeline

@Suite struct OpusTests {
    private func options(_ change: (inout OpusEncoder.Options) -> Void = { _ in }) -> OpusEncoder.Options {
        var options = OpusEncoder.Options()
        change(&options)
        return options
    }

    private func packets(_ pcm: [Int16], _ options: OpusEncoder.Options) throws -> (packets: [[UInt8]], delay: Int) {
        let encoder = try OpusEncoder(options)
        let length = options.frameDuration.frames
        return (
            try stride(from: 0, to: pcm.count - length + 1, by: length).map {
                try encoder.encode(Array(pcm[$0..<($0 + length)]))
            }, encoder.lookahead
        )
    }

    @Test(arguments: OpusEncoder.FrameDuration.allCases) func everyFrameDuration(_ duration: OpusEncoder.FrameDuration)
        throws
    {
        let pcm = Signals.speechLike(frames: 48_000)
        let (packets, _) = try packets(pcm, options { $0.frameDuration = duration })
        let decoder = try OpusDecoder()
        for packet in packets {
            #expect(OpusPacket(packet)?.frames == duration.frames)
            #expect(try decoder.decode(packet).count == duration.frames)
        }
    }

    @Test func toneSurvivesAtEveryBitrate() throws {
        let pcm = Signals.tone(440, frames: 96_000)
        for (bitrate, floor) in [(16_000, 15.0), (32_000, 20.0), (64_000, 25.0), (128_000, 30.0)] {
            let (packets, delay) = try packets(
                pcm,
                options {
                    $0.bitrate = bitrate; $0.application = .audio; $0.fec = false
                })
            let decoder = try OpusDecoder()
            let decoded = try packets.flatMap { try decoder.decode($0) }
            #expect(decoded.count == pcm.count)
            let snr = Signals.snr(of: decoded[(24_000 + delay)..<(72_000 + delay)], against: pcm[24_000..<72_000])
            #expect(snr > floor, "\(bitrate) bit/s: \(snr) dB")
            #expect(abs(Signals.frequency(of: Array(decoded[24_000..<72_000])) - 440) < 0.5)
        }
    }

    @Test func bitrateIsRespected() throws {
        let pcm = Signals.speechLike(frames: 96_000)
        for bitrate in [12_000, 24_000, 48_000] {
            let total = try packets(pcm, options { $0.bitrate = bitrate }).packets.map(\.count).reduce(0, +)
            #expect(Double(total * 8) / 2 < Double(bitrate) * 1.3)
        }
    }

    @Test func fecBringsBackMoreThanConcealment() throws {
        let pcm = Signals.speechLike(frames: 96_000)
        let (packets, _) = try packets(
            pcm,
            options {
                $0.bitrate = 32_000; $0.expectedPacketLoss = 20
            })
        let whole = try OpusDecoder()
        let reference = try packets.flatMap { try whole.decode($0) }
        #expect(packets.dropFirst(2).filter { OpusPacket($0)?.hasFEC == true }.count > packets.count * 2 / 5)
        var sums = (fec: 0.0, plc: 0.0, count: 0)
        for useFEC in [true, false] {
            let decoder = try OpusDecoder()
            var decoded: [Int16] = []
            var lost: [Int] = []
            for (index, packet) in packets.enumerated() {
                if index % 5 == 3, index + 1 < packets.count, OpusPacket(packets[index + 1])?.hasFEC == true {
                    lost.append(index)
                    decoded +=
                        useFEC
                        ? try decoder.decodeFEC(packets[index + 1], frames: 960) : try decoder.conceal(frames: 960)
                } else {
                    decoded += try decoder.decode(packet)
                }
            }
            #expect(!lost.isEmpty)
            for index in lost {
                let range = (index * 960)..<((index + 1) * 960)
                guard AudioLevel.decibels(reference[range]) > -40 else { continue }
                let snr = Signals.snr(of: decoded[range], against: reference[range])
                if useFEC { sums.fec += snr } else { sums.plc += snr }
                sums.count += 1
            }
        }
        #expect(sums.count > 0)
        #expect(sums.fec > sums.plc + Double(sums.count / 2) * 3, "FEC \(sums.fec), PLC \(sums.plc), \(sums.count)")
    }

    @Test func dtxSendsNextToNothingInSilence() throws {
        let encoder = try OpusEncoder(options { $0.dtx = true })
        var silent = 0
        for frame in 0..<100 {
            let packet = try encoder.encode([Int16](repeating: 0, count: 960))
            #expect(encoder.lastFrameIsSilence == (packet.count <= 2))
            if frame > 30 && encoder.lastFrameIsSilence { silent += 1 }
        }
        #expect(silent > 55)
        let plain = try OpusEncoder(options { $0.dtx = false })
        for _ in 0..<50 { _ = try plain.encode([Int16](repeating: 0, count: 960)) }
        #expect(!plain.lastFrameIsSilence)
    }

    @Test func stereoIsMixedDownByTheDecoder() throws {
        let encoder = try OpusEncoder(
            options {
                $0.channels = 2; $0.bitrate = 64_000
            })
        let decoder = try OpusDecoder(channels: 1)
        let tone = Signals.tone(440, frames: 48_000)
        var decoded: [Int16] = []
        for start in stride(from: 0, to: 48_000, by: 960) {
            let packet = try encoder.encode(tone[start..<(start + 960)].flatMap { [$0, $0] })
            decoded += try decoder.decode(packet)
        }
        #expect(decoded.count == 48_000)
        #expect(abs(Signals.level(of: Array(decoded[9_600...])) + 6) < 1)
    }

    @Test func wrongArgumentsAreRefused() throws {
        #expect(throws: OpusError.self) { try OpusEncoder(options { $0.bitrate = -5 }) }
        #expect(throws: OpusError.self) { try OpusEncoder(options { $0.complexity = 11 }) }
        #expect(throws: OpusError.self) { try OpusEncoder(options { $0.channels = 3 }) }
        #expect(throws: OpusError.self) { try OpusDecoder(channels: 0) }
        let encoder = try OpusEncoder()
        #expect(throws: OpusError.self) { try encoder.encode([Int16](repeating: 0, count: 480)) }
        #expect(throws: OpusError.self) { try encoder.encode([]) }
        let decoder = try OpusDecoder()
        #expect(throws: OpusError.self) { try decoder.decode([]) }
        #expect(throws: OpusError.self) { try decoder.conceal(frames: 0) }
        #expect(throws: OpusError.self) { try decoder.conceal(frames: 100_000) }
        #expect(throws: OpusError.self) { try decoder.conceal(frames: 961) }
    }

    @Test func randomBytesNeverCrash() throws {
        var generator = SeededGenerator(seed: 5)
        let decoder = try OpusDecoder()
        for _ in 0..<3_000 {
            let length = Int.random(in: 1...200, using: &generator)
            let packet = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let outline = OpusPacket(packet)
            if let decoded = try? decoder.decode(packet) { #expect(outline?.frames == decoded.count) }
            _ = try? decoder.decodeFEC(packet, frames: 960)
            _ = try? decoder.conceal(frames: 480)
        }
    }

    @Test func outlines() {
        #expect(OpusPacket([]) == nil)
        // Configuration 31, one frame of 20 ms CELT.
        #expect(OpusPacket([31 << 3, 0])?.frames == 960)
        // Configuration 16, 2.5 ms.
        #expect(OpusPacket([16 << 3, 0])?.frames == 120)
        // Configuration 3, 60 ms; two of them are 120 ms.
        #expect(OpusPacket([3 << 3, 0])?.frames == 2_880)
        #expect(OpusPacket([3 << 3 | 1, 0, 0])?.frames == 5_760)
        // Code 3 with three of 60 ms is too long, with none is nonsense, without its count is cut off.
        #expect(OpusPacket([3 << 3 | 3, 3]) == nil)
        #expect(OpusPacket([3 << 3 | 3, 0]) == nil)
        #expect(OpusPacket([3 << 3 | 3]) == nil)
        // Code 1 needs two equal frames.
        #expect(OpusPacket([1 << 3 | 1, 0]) == nil)
        #expect(OpusPacket([1 << 3])?.isDTX == true)
    }
}
