import AgentCore
import AgentSandbox
import AudioPipeline
import Foundation
import LoopCore

/// What arrives of speech that goes through the sandbox as it would through a network: a table over bit rates, losses and
/// the two kinds of redundancy. Sessions in this process, over real sockets, in real time.
enum QualityBenchmark {
    struct Case: Sendable {
        var bitrate: Int
        /// Percent of the packets that are lost at random.
        var loss: Int
        var fec: Bool
        var red: Bool
    }

    struct Result: Sendable {
        var signalToNoise: Double
        /// Log-spectral distance, dB.
        var distance: Double
        /// Percent of the sound that concealment made up.
        var concealed: Double
    }

    private static let seconds = 8

    static func figures() throws -> [Figure] {
        let speech = try Speech.frames(seconds * 50).flatMap { $0 }
        var rows: [(Case, Result)] = []
        for loss in [0, 5, 10, 20] {
            let cases = [16, 24, 32, 64].flatMap { rate in
                [(true, true), (true, false), (false, true), (false, false)].map {
                    Case(bitrate: rate * 1000, loss: loss, fec: $0.0, red: $0.1)
                }
            }
            rows += try Waiting.wait { try await run(cases, loss: loss, speech: speech) }
        }
        print("loopback of speech, \(seconds) s a cell: aligned SNR dB / log-spectral distance dB / concealed %")
        print("kbit/s  loss  FEC+RED             FEC                 RED                 neither")
        for rate in [16, 24, 32, 64] {
            for loss in [0, 5, 10, 20] {
                let cells = rows.filter { $0.0.bitrate == rate * 1000 && $0.0.loss == loss }.map {
                    pad(String(format: "%5.1f /%4.1f /%5.1f", $0.1.signalToNoise, $0.1.distance, $0.1.concealed), 20)
                }
                print(pad("\(rate)", 8) + pad("\(loss) %", 6) + cells.joined())
            }
        }
        func mean(_ value: (Result) -> Double, _ include: (Case) -> Bool) -> Double {
            let values = rows.filter { include($0.0) }.map { value($0.1) }
            return values.reduce(0, +) / Double(max(1, values.count))
        }
        return [
            Figure(
                name: "sound made up at 20 % loss with RED", value: mean(\.concealed) { $0.loss == 20 && $0.red },
                unit: "%", target: .atMost(3)),
            Figure(
                name: "sound made up at 20 % loss without", value: mean(\.concealed) { $0.loss == 20 && !$0.red },
                unit: "%", target: .none),
            Figure(
                name: "SNR of speech at 32 kbit/s without loss",
                value: mean(\.signalToNoise) { $0.loss == 0 && $0.bitrate == 32_000 }, unit: "dB", target: .atLeast(6)),
        ]
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func run(_ cases: [Case], loss: Int, speech: [Int16]) async throws -> [(Case, Result)] {
        var configuration = SandboxConfiguration()
        configuration.agent = nil
        configuration.faults.media.loss = Double(loss) / 100
        let server = SandboxServer(loop: EventLoop(name: "bench-sandbox"), configuration: configuration)
        let endpoints = try await server.start()
        var results: [(Case, Result)] = []
        // Four at a time, so that nothing is late.
        for start in stride(from: 0, to: cases.count, by: 4) {
            let batch = Array(cases[start..<min(start + 4, cases.count)])
            results += try await withThrowingTaskGroup(of: (Int, Result).self) { group in
                for (index, one) in batch.enumerated() {
                    group.addTask { (index, try await measure(one, room: "room-\(start + index)", endpoints, speech)) }
                }
                var found: [(Int, Result)] = []
                for try await result in group { found.append(result) }
                return found.sorted { $0.0 < $1.0 }.map { (batch[$0.0], $0.1) }
            }
        }
        await server.stop()
        return results
    }

    private static func session(
        _ endpoints: SandboxServer.Endpoints, room: String, identity: String, input: SessionConfiguration.Input
    ) -> SessionConfiguration {
        var options = Room.Options()
        options.loopbackOnly = true
        var request = TokenRequest()
        request.roomName = room
        request.participantIdentity = identity
        var configuration = SessionConfiguration(
            tokenSource: .sandbox(id: "bench", baseURL: endpoints.http), tokenRequest: request, room: options,
            input: input)
        configuration.limits.agentJoin = .seconds(600)
        configuration.preConnectBuffer = nil
        return configuration
    }

    private static func measure(
        _ one: Case, room: String, _ endpoints: SandboxServer.Endpoints, _ speech: [Int16]
    ) async throws -> Result {
        let microphone = ManualAudio(bound: .seconds(Int64(seconds + 2)))
        let speaker = ManualAudio(bound: .seconds(Int64(seconds + 10)))
        var talking = session(endpoints, room: room, identity: "talker", input: .manual(microphone))
        talking.encoder.bitrate = one.bitrate
        talking.encoder.fec = one.fec
        talking.encoder.expectedPacketLoss = one.loss
        talking.adaptsToLoss = false
        talking.redundantAudio = one.red
        var listening = session(endpoints, room: room, identity: "listener", input: .silence)
        listening.output = .manual(speaker)
        let talker = VoiceSession(configuration: talking)
        let listener = VoiceSession(configuration: listening)
        async let talked = talker.run()
        async let heard = listener.run()
        // Everything stands by then; what the jitter buffer learned at the start is past too.
        try await Task.sleep(for: .seconds(2))
        microphone.push(speech)
        try await Task.sleep(for: .seconds(seconds + 1))
        await talker.stop()
        await listener.stop()
        _ = try await talked
        let summary = try await heard
        let sound = speaker.pull(48_000 * (seconds + 10))
        let concealed = summary.received.concealedSeconds / max(0.1, summary.received.audioSeconds) * 100
        let aligned = Comparison.align(speech, with: sound)
        return Result(
            signalToNoise: Comparison.signalToNoise(speech, aligned),
            distance: Comparison.logSpectralDistance(speech, aligned), concealed: concealed)
    }
}
