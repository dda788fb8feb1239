import LiveKitProtocol
import RTCTransport
import Testing

@testable import AgentCore

@Suite struct DataSenderTests {
    /// A data channel that keeps what it is given.
    private final class Channel: DataSendChannel {
        var readyState = DataChannel.State.open
        var bufferedAmount = 0
        var bufferedAmountLowThreshold = 0
        var maxMessageSize = 65_536
        var onOpen: (() -> Void)?
        var onBufferedAmountLow: (() -> Void)?
        var sent: [[UInt8]] = []

        func send(binary bytes: [UInt8]) throws(DataChannelError) {
            guard bytes.count <= maxMessageSize else {
                throw .messageTooLarge(label: "_reliable", size: bytes.count, limit: maxMessageSize)
            }
            sent.append(bytes)
            bufferedAmount += bytes.count
        }

        func drain() {
            bufferedAmount = 0
            onBufferedAmountLow?()
        }

        var sequences: [UInt32] { sent.map { (try? DataPacket(serializedBytes: $0).sequence) ?? .max } }
        var texts: [String] {
            sent.map { bytes in
                guard case .user(let user)? = (try? DataPacket(serializedBytes: bytes))?.value else { return "?" }
                return String(decoding: user.payload.prefix(8), as: UTF8.self)
            }
        }
    }

    private func packet(_ text: String = "", size: Int = 0) -> DataPacket {
        var user = UserPacket()
        user.payload = Array(text.utf8) + [UInt8](repeating: 0x20, count: max(0, size - text.utf8.count))
        var packet = DataPacket()
        packet.value = .user(user)
        return packet
    }

    @Test func reliablePacketsAreNumberedInTheOrderInWhichTheyGoOut() throws {
        let sender = DataSender(isReliable: true)
        let channel = Channel()
        channel.readyState = .connecting
        sender.use(channel)
        for text in ["a", "b", "c"] { try sender.send(packet(text)) }
        #expect(throws: DataSendError.self) { try sender.send(packet(size: 70_000)) }
        #expect(channel.sent.isEmpty)
        channel.readyState = .open
        channel.onOpen?()
        try sender.send(packet("d"))
        #expect(channel.texts == ["a", "b", "c", "d"])
        #expect(channel.sequences == [1, 2, 3, 4], "a packet that is not taken uses no number")
    }

    @Test func lossyPacketsHaveNoNumbersAndTheOldestMakeRoom() throws {
        let sender = DataSender(isReliable: false)
        let channel = Channel()
        channel.readyState = .connecting
        sender.use(channel)
        for index in 0..<100 { try sender.send(packet("\(index)", size: 2000)) }
        #expect(sender.bufferedAmount <= 64 << 10)
        #expect(sender.droppedPackets > 60)
        channel.readyState = .open
        channel.onOpen?()
        #expect(channel.sent.count == 100 - sender.droppedPackets)
        #expect(channel.texts.last?.hasPrefix("99") == true)
        #expect(channel.sequences.allSatisfy { $0 == 0 })
    }

    @Test func nothingLargerThanThePeerTakesIsSent() throws {
        let sender = DataSender(isReliable: true)
        let channel = Channel()
        channel.maxMessageSize = 1000
        channel.readyState = .connecting
        sender.use(channel)
        var dropped: [DataSendError] = []
        sender.onDropped = { dropped.append($0) }
        try sender.send(packet("large", size: 2000))
        try sender.send(packet("small"))
        channel.readyState = .open
        channel.onOpen?()
        #expect(channel.texts == ["small"], "what can never be sent does not hold up the rest")
        #expect(dropped.count == 1)
        #expect(throws: DataSendError.self) { try sender.send(packet(size: 2000)) }
    }

    @Test func aFullQueueRefusesAndTellsWhenItHasRoomAgain() throws {
        let sender = DataSender(isReliable: true)
        let channel = Channel()
        sender.use(channel)
        var drained = 0
        sender.onDrained = { drained += 1 }
        var taken: UInt32 = 0
        while (try? sender.send(packet(size: 50_000))) != nil { taken += 1 }
        #expect(sender.bufferedAmount > 5_000_000 && sender.bufferedAmount < 6_000_000)
        #expect(throws: DataSendError.full(limit: 4 << 20)) { try sender.send(packet(size: 50_000)) }
        #expect(drained == 0)
        for _ in 0..<6 { channel.drain() }
        #expect(drained == 1, "told once")
        #expect(channel.sequences == Array(1...taken), "nothing was lost or overtaken")
    }

    @Test func whatWaitsGoesToTheNextChannel() throws {
        let sender = DataSender(isReliable: true)
        let first = Channel()
        first.readyState = .connecting
        sender.use(first)
        try sender.send(packet("a"))
        first.readyState = .closed
        let second = Channel()
        sender.use(second)
        try sender.send(packet("b"))
        #expect(first.sent.isEmpty)
        #expect(second.texts == ["a", "b"])
    }
}

@Suite struct DataInboxTests {
    private func bytes(_ sid: String, _ sequence: UInt32, size: Int = 1) -> [UInt8] {
        var user = UserPacket()
        user.payload = [UInt8](repeating: 1, count: size)
        var packet = DataPacket()
        packet.participantSid = sid
        packet.sequence = sequence
        packet.value = .user(user)
        return packet.serializedBytes()
    }

    @Test func repeatedPacketsAreDroppedPerSender() throws {
        var inbox = DataInbox()
        _ = inbox.open()
        #expect(try inbox.receive(bytes("PA_a", 1)).count == 1)
        #expect(try inbox.receive(bytes("PA_a", 3)).count == 1)
        #expect(try inbox.receive(bytes("PA_a", 3)).isEmpty)
        #expect(try inbox.receive(bytes("PA_a", 2)).isEmpty)
        #expect(try inbox.receive(bytes("PA_b", 1)).count == 1, "of a sender that nobody announced")
        #expect(try inbox.receive(bytes("PA_a", 0)).count == 1, "without a number")
        #expect(try inbox.receive(bytes("PA_a2", 1)).count == 1, "a participant that came back counts anew")
    }

    @Test func manySendersDoNotForgetEachOther() throws {
        var inbox = DataInbox()
        _ = inbox.open()
        for index in 0..<1024 { _ = try inbox.receive(bytes("PA_\(index)", 5)) }
        #expect(try inbox.receive(bytes("PA_1023", 5)).isEmpty)
        #expect(try inbox.receive(bytes("PA_new", 1)).count == 1)
        #expect(try inbox.receive(bytes("PA_1", 5)).isEmpty, "only the oldest makes room")
        #expect(try inbox.receive(bytes("PA_0", 5)).count == 1)
    }

    @Test func earlyPacketsWaitInOrderAndAreBounded() throws {
        var inbox = DataInbox()
        for sequence in 1...600 { #expect(try inbox.receive(bytes("PA_a", UInt32(sequence))).isEmpty) }
        #expect(inbox.droppedEarly == 88)
        #expect(inbox.open().map(\.sequence) == Array(1...512))
        #expect(try inbox.receive(bytes("PA_a", 601)).count == 1)

        var large = DataInbox()
        for sequence in 1...100 { _ = try large.receive(bytes("PA_a", UInt32(sequence), size: 60_000)) }
        #expect(large.open().count == 69, "4 MiB")
    }

    @Test func garbageIsAnErrorAndNoMore() throws {
        var inbox = DataInbox()
        #expect(throws: ProtobufError.self) { try inbox.receive([0xff, 0xff, 0xff]) }
    }
}
