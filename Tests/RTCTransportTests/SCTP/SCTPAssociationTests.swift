import CUsrsctp
import LoopCore
import Testing

@testable import RTCTransport

@Suite struct SCTPAssociationTests {
    private func withPair(_ body: (SCTPPair) async throws -> Void) async throws {
        let loop = EventLoop(name: "sctp-test")
        let pair = SCTPPair(loop: loop)
        try await body(pair)
        await pair.end()
        loop.stop()
    }

    private func connect(_ pair: SCTPPair, opening labels: String..., within limit: Duration = .seconds(10)) async {
        await pair.start()
        #expect(await eventually(within: limit) { await pair.bothConnected })
        for label in labels {
            #expect(await eventually(within: limit) { await pair.isOpen(label) })
        }
    }

    @Test func channelsOpenBothWays() async throws {
        try await withPair { pair in
            await pair.make()
            await pair.open("_reliable", on: 0)
            await pair.open("_lossy", on: 0, ordered: false, maxRetransmits: 0)
            await pair.open("down", on: 1)
            await connect(pair, opening: "_reliable", "_lossy", "down")
            await pair.open("late", on: 1)
            #expect(await eventually { await pair.isOpen("late") })
            #expect(await pair.id("_reliable", on: 0) == 0)
            #expect(await pair.id("_lossy", on: 1) == 2)
            #expect(await pair.id("down", on: 0) == 1)
            #expect(await pair.id("late", on: 1) == 3)
            #expect(await pair.isLossy("_lossy", on: 1))

            try await pair.send([1, 2], on: "_reliable", from: 0)
            try await pair.send([], on: "_reliable", from: 0)
            try await pair.send(text: "grüße", on: "_reliable", from: 0)
            try await pair.send(text: "", on: "_reliable", from: 0)
            try await pair.send([7], on: "_lossy", from: 1)
            #expect(await eventually { await pair.received[1].count == 4 })
            #expect(await eventually { await pair.received[0].count == 1 })
            let expected: [SCTPPair.Received] = [
                .init(label: "_reliable", bytes: [1, 2], isBinary: true),
                .init(label: "_reliable", bytes: [], isBinary: true),
                .init(label: "_reliable", bytes: Array("grüße".utf8), isBinary: false),
                .init(label: "_reliable", bytes: [], isBinary: false),
            ]
            #expect(await pair.received[1] == expected)
            #expect(await pair.states[0] == [.connecting, .connected])
            #expect(await pair.sawNestedCallback == false)
        }
    }

    @Test func negotiatedChannels() async throws {
        try await withPair { pair in
            await pair.make()
            await pair.open("_reliable", on: 0, negotiatedID: 100)
            await pair.open("_reliable", on: 1, negotiatedID: 100)
            await pair.open("early", on: 0, negotiatedID: 101)
            await connect(pair, opening: "_reliable")
            try await pair.send([1], on: "_reliable", from: 0)
            try await pair.send([2], on: "early", from: 0)
            #expect(await eventually { await pair.received[1].count == 1 })
            #expect(await pair.log[1] == ["open _reliable"])
            // The other end makes its half of the channel after data has come.
            try await Task.sleep(for: .milliseconds(50))
            await pair.open("early", on: 1, negotiatedID: 101)
            #expect(await eventually { await pair.received[1].last?.bytes == [2] })
            // An id in use, and one that cannot exist.
            await pair.open("double", on: 0, negotiatedID: 100)
            await pair.open("far", on: 0, negotiatedID: 5000)
            #expect(await eventually { await pair.log[0].contains("close double") })
            #expect(await eventually { await pair.log[0].contains("close far") })
        }
    }

    @Test func reliableOverALossyPath() async throws {
        let seed: UInt64 = 1
        try await withPair { pair in
            await pair.make(
                impair: {
                    $0.loss = 0.2
                    $0.duplication = 0.05
                    $0.reordering = 0.1
                }, seed: seed)
            await pair.open("data", on: 0)
            await connect(pair, opening: "data", within: .seconds(30))
            var generator = SeededGenerator(seed: seed)
            // Retransmission timers back off up to seconds at this loss: more would only take longer.
            let messages = (0..<16).map { generator.bytes(12_000 + ($0 * 997) % 8_192) }
            #expect(messages.reduce(0) { $0 + $1.count } > 200_000)
            for message in messages { try await pair.send(message, on: "data", from: 0) }
            #expect(await eventually(within: .seconds(60)) { await pair.received[1].count == messages.count })
            #expect(await pair.received[1].map(\.bytes) == messages)
            #expect(await pair.largestPacket <= Int(SCTPSocket.mtu))
        }
    }

    @Test func unorderedLossyDrops() async throws {
        try await withPair { pair in
            await pair.make()
            await pair.open("_lossy", on: 0, ordered: false, maxRetransmits: 0)
            await pair.open("_reliable", on: 0)
            await connect(pair, opening: "_lossy", "_reliable")
            await pair.impair { $0.loss = 0.3 }
            for number in 0..<200 {
                try await pair.send([UInt8(number)], on: "_lossy", from: 0)
                try await Task.sleep(for: .milliseconds(1))
            }
            await pair.impair { $0.loss = 0 }
            try await pair.send([1], on: "_reliable", from: 0)
            #expect(await eventually(within: .seconds(20)) { await pair.received[1].last?.label == "_reliable" })
            let arrived = await pair.received[1].filter { $0.label == "_lossy" }
            #expect(arrived.count < 200)
            #expect(arrived.count > 50)
            #expect(Set(arrived.map(\.bytes)).count == arrived.count)
        }
    }

    @Test func backPressure() async throws {
        try await withPair { pair in
            await pair.make()
            await pair.open("data", on: 0)
            await connect(pair, opening: "data")
            await pair.pour(200, on: "data", from: 0, limit: 256 << 10)
            #expect(await eventually(within: .seconds(30)) { await pair.received[1].count == 200 })
            #expect(await pair.peakBuffered <= (256 << 10) + 16_384)
            #expect(await pair.lowCalls > 0)
            #expect(await pair.received[1].map { $0.bytes[0] } == (0..<200).map { UInt8($0) })
        }
    }

    @Test func refusesTooMuch() async throws {
        try await withPair { pair in
            var configuration = SCTPAssociation.Configuration()
            configuration.remoteMaxMessageSize = 1000
            await pair.make(configuration)
            await pair.open("data", on: 0)
            await #expect(throws: DataChannelError.notOpen(label: "data", state: .connecting)) {
                try await pair.send([1], on: "data", from: 0)
            }
            await connect(pair, opening: "data")
            await #expect(throws: DataChannelError.messageTooLarge(label: "data", size: 1001, limit: 1000)) {
                try await pair.send([UInt8](repeating: 0, count: 1001), on: "data", from: 0)
            }
            await pair.impair { $0.loss = 1 }
            await #expect(throws: DataChannelError.bufferFull(label: "data", limit: SCTPAssociation.maxBuffered)) {
                for _ in 0..<40_000 { try await pair.send([UInt8](repeating: 0, count: 1000), on: "data", from: 0) }
            }
        }
    }

    @Test func messagesUpToTheLimit() async throws {
        try await withPair { pair in
            var configuration = SCTPAssociation.Configuration()
            configuration.remoteMaxMessageSize = 0
            await pair.make(configuration)
            await pair.open("data", on: 1)
            await connect(pair, opening: "data")
            var generator = SeededGenerator(seed: 4)
            let large = generator.bytes(SCTPAssociation.maxSendSize)
            for _ in 0..<3 { try await pair.send(large, on: "data", from: 0) }
            #expect(await eventually(within: .seconds(20)) { await pair.received[1].count == 3 })
            #expect(await pair.received[1].allSatisfy { $0.bytes == large })
        }
    }

    @Test func closingReachesBothEnds() async throws {
        try await withPair { pair in
            await pair.make()
            await pair.open("one", on: 0)
            await pair.open("two", on: 0)
            await connect(pair, opening: "one", "two")
            try await pair.send([UInt8](repeating: 5, count: 50_000), on: "one", from: 0)
            #expect(await pair.close(channel: "one", on: 0) == .closing)
            #expect(await eventually { await pair.readyState("one", on: 1) == .closed })
            #expect(await eventually { await pair.readyState("one", on: 0) == .closed })
            #expect(await pair.received[1].first?.bytes.count == 50_000)
            #expect(await pair.log[0].filter { $0 == "close one" }.count == 1)
            #expect(await pair.readyState("two", on: 1) == .open)
            // The id is free again.
            await pair.open("three", on: 0)
            #expect(await eventually { await pair.isOpen("three") })
            #expect(await pair.id("three", on: 0) == 0)
            try await pair.send([3], on: "three", from: 1)
            #expect(await eventually { await pair.received[0].last?.bytes == [3] })
            #expect(await pair.sawNestedCallback == false)
        }
    }

    @Test func closingTheAssociationTellsThePeer() async throws {
        try await withPair { pair in
            await pair.make()
            await pair.open("data", on: 0)
            await connect(pair, opening: "data")
            await pair.close(0)
            await pair.close(0)
            #expect(await eventually { await pair.log[1].contains("close data") })
            guard case .failed = await pair.state(1) else {
                Issue.record("the peer is \(await pair.state(1))")
                return
            }
            #expect(await pair.log[0].contains("close data") == false)
        }
    }

    @Test func closeFromInsideACallback() async throws {
        try await withPair { pair in
            await pair.make()
            await pair.open("data", on: 0)
            await connect(pair, opening: "data")
            await pair.closeOnMessage("data", on: 1)
            for _ in 0..<10 { try? await pair.send([1], on: "data", from: 0) }
            #expect(await eventually { await pair.state(1) == .closed })
            #expect(await eventually { await pair.readyState("data", on: 0) == .closed })
        }
    }

    @Test func noAnswerKeepsTrying() async throws {
        try await withPair { pair in
            await pair.make(impair: { $0.loss = 1 })
            await pair.open("data", on: 0)
            await pair.start()
            try await Task.sleep(for: .milliseconds(1000))
            #expect(await pair.state(0) == .connecting)
            await pair.impair { $0.loss = 0 }
            #expect(await eventually { await pair.isOpen("data") })
        }
    }

    @Test func manyLoopsAtOnce() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await withPair { pair in
                        await pair.make(impair: { $0.loss = 0.05 }, seed: UInt64(number))
                        await pair.open("data", on: 0)
                        await connect(pair, opening: "data", within: .seconds(20))
                        for byte in 0..<100 { try await pair.send([UInt8(byte), UInt8(number)], on: "data", from: 0) }
                        #expect(await eventually(within: .seconds(20)) { await pair.received[1].count == 100 })
                        #expect(await pair.received[1].map(\.bytes) == (0..<100).map { [UInt8($0), UInt8(number)] })
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func garbageIsHarmless() async throws {
        try await withPair { pair in
            await pair.make()
            await pair.open("data", on: 0)
            await connect(pair, opening: "data")
            var generator = SeededGenerator(seed: 6)
            for round in 0..<3000 {
                var bytes = generator.bytes(Int.random(in: 0...160, using: &generator))
                if bytes.count >= 16, round % 2 == 0 {
                    // Right ports and checksum, so that chunks are looked at.
                    bytes.replaceSubrange(0..<4, with: [0x13, 0x88, 0x13, 0x88])
                    if round % 4 == 0 { bytes[12] = UInt8.random(in: 0...15, using: &generator) }
                    bytes[14] = 0
                    bytes[15] = UInt8(min(bytes.count - 12, 255))
                    bytes.replaceSubrange(8..<12, with: [0, 0, 0, 0])
                    let checksum = usrsctp_crc32c(&bytes, bytes.count)
                    withUnsafeBytes(of: checksum) { bytes.replaceSubrange(8..<12, with: $0) }
                }
                await pair.inject(bytes, to: round / 2 % 2)
            }
            try await pair.send([9], on: "data", from: 0)
            #expect(await eventually { await pair.received[1].last?.bytes == [9] })
        }
    }

    /// Packets that are wrong inside under a right checksum: an association may end, nothing else may happen.
    @Test(arguments: 1...6) func alteredPacketsAreHarmless(seed: Int) async throws {
        try await withPair { pair in
            await pair.make(
                impair: {
                    $0.corruption = 0.2
                    $0.repair = { bytes in
                        guard bytes.count >= 12 else { return }
                        bytes.replaceSubrange(8..<12, with: [0, 0, 0, 0])
                        let checksum = usrsctp_crc32c(&bytes, bytes.count)
                        withUnsafeBytes(of: checksum) { bytes.replaceSubrange(8..<12, with: $0) }
                    }
                }, seed: UInt64(seed) &* 1000)
            await pair.open("_reliable", on: 0)
            await pair.open("_lossy", on: 1, ordered: false, maxRetransmits: 1)
            await pair.start()
            for round in 0..<40 {
                try? await pair.send([UInt8](repeating: 1, count: 3000), on: "_reliable", from: round % 2)
                try? await pair.send([2, 3], on: "_lossy", from: round % 2)
                if round == 30 { await pair.close(channel: "_lossy", on: 0) }
                try await Task.sleep(for: .milliseconds(15))
            }
        }
    }
}
