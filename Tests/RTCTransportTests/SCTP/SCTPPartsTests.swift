import Testing

@testable import RTCTransport

@Suite struct DCEPTests {
    @Test(arguments: [
        DCEPMessage.Open(label: "_reliable", protocol: "", ordered: true),
        DCEPMessage.Open(label: "_lossy", protocol: "p", ordered: false, maxRetransmits: 0),
        DCEPMessage.Open(label: "", protocol: "", ordered: true, maxPacketLifetime: 300),
        DCEPMessage.Open(label: "größe", protocol: "", ordered: false),
    ])
    func roundTrips(open: DCEPMessage.Open) {
        #expect(DCEPMessage(DCEPMessage.open(open).bytes) == .open(open))
    }

    @Test func knownBytes() {
        let lossy = DCEPMessage.open(.init(label: "ab", protocol: "", ordered: false, maxRetransmits: 0))
        #expect(lossy.bytes == [3, 0x81, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0x61, 0x62])
        #expect(DCEPMessage([2]) == .acknowledge)
    }

    @Test(
        arguments: [
            [], [1], [3], [3, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0x61], [3, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            [3, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        ] as [[UInt8]])
    func refuses(bytes: [UInt8]) {
        #expect(DCEPMessage(bytes) == nil)
    }

    @Test func fuzz() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<5000 {
            var bytes = generator.bytes(Int.random(in: 0...40, using: &generator))
            if !bytes.isEmpty { bytes[0] = 3 }
            _ = DCEPMessage(bytes)
            _ = SCTPNotification(generator.bytes(Int.random(in: 0...40, using: &generator)))
        }
    }
}

@Suite struct SCTPReassemblerTests {
    private func part(_ bytes: [UInt8], last: Bool, stream: UInt16 = 1, unordered: Bool = false) -> SCTPFragment {
        SCTPFragment(stream: stream, ppid: 53, isUnordered: unordered, isLast: last, bytes: bytes)
    }

    @Test func joinsPartsOfEachStream() {
        var reassembler = SCTPReassembler(maxMessageSize: 100)
        #expect(reassembler.add(part([1], last: false)) == nil)
        #expect(reassembler.add(part([9], last: true, stream: 2))?.bytes == [9])
        #expect(reassembler.add(part([8], last: true, unordered: true))?.bytes == [8])
        #expect(reassembler.add(part([2], last: false)) == nil)
        #expect(reassembler.add(part([3], last: true))?.bytes == [1, 2, 3])
    }

    @Test func dropsWhatIsTooLarge() {
        var reassembler = SCTPReassembler(maxMessageSize: 4)
        #expect(reassembler.add(part([1, 2, 3, 4, 5], last: true)) == nil)
        #expect(reassembler.add(part([1, 2, 3], last: false)) == nil)
        #expect(reassembler.add(part([4, 5], last: false)) == nil)
        #expect(reassembler.add(part([6], last: true)) == nil)
        #expect(reassembler.oversized == 2)
        #expect(reassembler.add(part([7], last: true))?.bytes == [7])
    }

    @Test func abandonedMessagesAreForgotten() {
        var reassembler = SCTPReassembler(maxMessageSize: 4)
        #expect(reassembler.add(part([1], last: false)) == nil)
        reassembler.abandon(stream: 1)
        #expect(reassembler.add(part([2], last: true))?.bytes == [2])
    }

    @Test func unfinishedMessagesAreBounded() {
        var reassembler = SCTPReassembler(maxMessageSize: 4)
        for stream in 0..<UInt16(1000) { _ = reassembler.add(part([1], last: false, stream: stream)) }
        #expect(reassembler.add(part([2], last: true, stream: 999))?.bytes == [2])
        #expect(reassembler.add(part([2], last: true, stream: 0))?.bytes == [1, 2])
    }
}

@Suite struct EarlyMessagesTests {
    @Test func boundedAndInOrder() {
        var early = EarlyMessages()
        for number in 0..<200 {
            early.add(.init(stream: UInt16(number % 2), ppid: 53, bytes: [UInt8(number)]))
        }
        let taken = early.take(stream: 1)
        #expect(taken.count == EarlyMessages.maxCount / 2)
        #expect(taken.prefix(2).map(\.bytes) == [[1], [3]])
        #expect(early.take(stream: 1).isEmpty)
        early.add(.init(stream: 5, ppid: 53, bytes: [UInt8](repeating: 0, count: EarlyMessages.maxSize + 1)))
        #expect(early.take(stream: 5).isEmpty)
    }
}
