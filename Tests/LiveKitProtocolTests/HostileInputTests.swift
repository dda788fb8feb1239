import LiveKitProtocol
import Testing

/// Bytes that are no messages throw; whatever they are, what they cost is bounded.
@Suite struct HostileInputTests {
    @Test(arguments: [
        ("0a", ProtobufError.truncated),
        ("0affffffff0f", .truncated),
        ("0affffffffffffffffff01", .truncated),
        ("0a050801", .truncated),
        ("80", .truncated),
        ("08ffffffffffffffffffffff", .malformedVarint),
        ("00", .malformedTag),
        ("06", .malformedTag),
        ("07", .malformedTag),
        ("1c", .malformedTag),
        ("c33ec43e c43e", .malformedTag),
        ("c33ecc3e", .malformedTag),
        ("c33e", .truncated),
        ("ffffffffffffffffff0101", .malformedTag),
        ("820101ff", .invalidUTF8),
        ("820103eda080", .invalidUTF8),
    ])
    func malformedBytesThrow(hex: String, error: ProtobufError) {
        #expect(throws: error) { try SignalResponse(serializedBytes: bytes(hex)) }
    }

    @Test func deepGroupsThrow() {
        let open = [UInt8]([[UInt8]](repeating: bytes("c33e"), count: 100_000).joined())
        #expect(throws: ProtobufError.tooDeep) { try Ping(serializedBytes: open) }
    }

    @Test func largeMessagesThrow() {
        let size = ProtobufDecoder.maximumSize + 1
        #expect(throws: ProtobufError.tooLarge(size)) {
            try Ping(serializedBytes: [UInt8](repeating: 0, count: size))
        }
    }

    @Test func everyPrefixOfAMessageIsTruncated() throws {
        let whole = bytes("0a270a0c0a04524d5f31120464656d6f120d0a0450415f311205616c6963653001500f580562021810")
        for end in 1..<whole.count {
            #expect(throws: ProtobufError.truncated) { try SignalResponse(serializedBytes: whole[..<end]) }
        }
    }

    /// Two bytes on the wire may stand for a participant of some hundred bytes in memory: their number is limited.
    @Test(.timeLimit(.minutes(1))) func manyEmptyElementsThrow() throws {
        let limit = ProtobufDecoder.maximumElements
        let participant = bytes("1a00")
        let fits = [UInt8]([[UInt8]](repeating: participant, count: limit).joined())
        #expect(try JoinResponse(serializedBytes: fits).otherParticipants.count == limit)
        #expect(throws: ProtobufError.tooManyElements) { try JoinResponse(serializedBytes: fits + participant) }
        // Counted over all nested messages together.
        let participants = [UInt8]([[UInt8]](repeating: bytes("1a027a00"), count: limit / 2 + 1).joined())
        #expect(throws: ProtobufError.tooManyElements) { try JoinResponse(serializedBytes: participants) }
    }

    @Test(.timeLimit(.minutes(1))) func largePackedFieldsAreReadInOneGo() throws {
        let count = 1 << 20
        var encoded = bytes("8a01 808040")
        encoded += [UInt8](repeating: 1, count: count)
        #expect(try AddTrackRequest(serializedBytes: encoded).audioFeatures.count == count)
    }
}
