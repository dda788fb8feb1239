import LoopCore
import RTCTransport
import Testing

@Suite struct PeerConnectionTests {
    private func withPair(_ body: (PeerConnectionPair) async throws -> Void) async throws {
        let loop = EventLoop()
        let pair = PeerConnectionPair(loop: loop)
        try await body(pair)
        await pair.close()
        loop.stop()
    }

    @Test func audioFlowsBothWays() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.addAudio(.sendrecv)
            try await pair.negotiate(answering: .sendrecv)
            #expect(await pair.waitConnected())
            await pair.sendFrames(50, from: .offerer)
            await pair.sendFrames(50, from: .answerer)
            #expect(await pair.wait { $0.frames.count { !$0.isRedundant } == 50 })
            #expect(await pair.wait { $0.backFrames.count { !$0.isRedundant } == 50 })
            let frames = await pair.frames
            #expect(frames.filter { !$0.isRedundant }.map { $0.payload[1] } == Array(0..<50))
            #expect(frames.allSatisfy { $0.audioLevel == 30 })
            #expect(frames.contains { $0.isRedundant }, "RED was agreed, so earlier frames come again")
            let timings = await pair.read { $0.offerer?.timings }
            #expect(timings?.iceConnected != nil && timings?.dtlsConnected != nil)
        }
    }

    /// Whether candidates may be used is known only after the first offer, when that travels with the join.
    @Test(arguments: [false, true]) func relaysMayBeRequiredAfterTheFirstOffer(required: Bool) async throws {
        try await withPair { pair in
            var deferred = PeerConnection.Configuration.loopback
            deferred.defersGathering = true
            try await pair.make(offerer: deferred)
            await pair.addAudio(.recvonly)
            try await pair.offerAlone(requiringRelay: required)
            #expect(await pair.wait { $0.gathered.contains("offerer") })
            #expect(await pair.candidates.isEmpty == required, "no relay is configured, so there is none")
        }
    }

    @Test func withoutREDThereIsPlainOpus() async throws {
        try await withPair { pair in
            var plain = PeerConnection.Configuration.loopback
            plain.allowsRED = false
            try await pair.make(answerer: plain)
            await pair.addAudio(.sendonly)
            try await pair.negotiate()
            #expect(await pair.waitConnected())
            await pair.sendFrames(10, from: .offerer)
            #expect(await pair.wait { $0.frames.count == 10 })
            #expect(await pair.frames.allSatisfy { !$0.isRedundant })
        }
    }

    @Test func aWrongFingerprintFailsTheConnection() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.addAudio(.sendrecv)
            try await pair.negotiate(alter: { sdp in
                sdp.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
                    line.hasPrefix("a=fingerprint:")
                        ? "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":")
                        : String(line)
                }.joined(separator: "\r\n")
            })
            #expect(await pair.wait { $0.states.contains("answerer failed") })
            await pair.sendFrames(5, from: .offerer)
            try await Task.sleep(for: .milliseconds(100))
            #expect(await pair.frames.isEmpty)
        }
    }

    @Test func aTrackAddedLaterFlowsOnTheSameTransport() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.addAudio(.recvonly)
            try await pair.negotiate()
            #expect(await pair.waitConnected())
            await pair.addAudio(.sendonly, track: "late")
            try await pair.negotiate()
            #expect(
                await pair.read { $0.answerer?.transceivers.last?.remoteMsid }
                    == MediaStreamID(stream: "stream", track: "late"))
            await pair.sendFrames(10, from: .offerer, at: 1)
            #expect(await pair.wait { $0.frames.count { !$0.isRedundant } == 10 })
        }
    }

    @Test func aSectionGoesInactiveAndIsUsedAgain() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.addAudio(.recvonly)
            let first = MediaStreamID(stream: "PA_a|TR_a", track: "TR_a")
            let second = MediaStreamID(stream: "PA_b|TR_b", track: "TR_b")
            try await pair.negotiate(answering: .sendonly, msid: first)
            #expect(await pair.waitConnected())
            #expect(await pair.read { $0.offerer?.transceivers[0].remoteMsid } == first)
            try await pair.negotiate(answering: .inactive)
            #expect(await pair.read { $0.offerer?.transceivers[0].currentDirection } == .inactive)
            #expect(await pair.read { $0.offerer?.transceivers[0].remoteMsid } == nil)
            try await pair.negotiate(answering: .sendonly, msid: second)
            #expect(await pair.read { $0.offerer?.transceivers[0].remoteMsid } == second)
            #expect(await pair.read { $0.offerer?.transceivers.count } == 1)
            await pair.sendFrames(10, from: .answerer)
            #expect(await pair.wait { $0.backFrames.count { !$0.isRedundant } == 10 })
        }
    }

    @Test func anICERestartKeepsTheMediaGoing() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.addAudio(.sendonly)
            try await pair.negotiate()
            #expect(await pair.waitConnected())
            let before = await pair.read { $0.offerer?.localDescription?.sdp }
            try await pair.negotiate(iceRestart: true)
            #expect(await pair.read { $0.offerer?.localDescription?.sdp } != before)
            try await Task.sleep(for: .milliseconds(300))
            #expect(await pair.waitConnected())
            await pair.sendFrames(10, from: .offerer)
            #expect(await pair.wait { $0.frames.count { !$0.isRedundant } == 10 })
        }
    }

    @Test func reportsTellLossAndRoundTrip() async throws {
        try await withPair { pair in
            try await pair.make()
            await pair.addAudio(.sendonly)
            try await pair.negotiate()
            #expect(await pair.waitConnected())
            for _ in 0..<60 {
                await pair.sendFrames(1, from: .offerer)
                try await Task.sleep(for: .milliseconds(40))
            }
            #expect(await pair.wait(5) { $0.offerer?.transceivers[0].senderStatistics.roundTripMilliseconds != nil })
            let sent = try #require(await pair.read { $0.offerer?.transceivers[0].senderStatistics })
            #expect(sent.packets == 60)
            #expect(sent.cumulativeLost == 0)
            #expect(try #require(sent.roundTripMilliseconds) < 100)
            #expect(
                await pair.read { $0.offerer?.statistics.feedbackReported } ?? 0 > 0,
                "transport-wide feedback was agreed")
        }
    }

    @Test func closingInTheMiddleIsSafe() async throws {
        for delay in [0, 1, 5, 20, 60] {
            try await withPair { pair in
                try await pair.make()
                await pair.addAudio(.sendrecv)
                try await pair.negotiate()
                try await Task.sleep(for: .milliseconds(delay))
                await pair.close()
                await pair.close()
                let count = await pair.states.count
                try await Task.sleep(for: .milliseconds(20))
                #expect(await pair.states.count == count)
            }
        }
    }
}
