import LiveKitProtocol
import Testing

/// What protobuf asks of a reader beyond the plain cases.
@Suite struct WireFormatTests {
    /// Field 1000 as a varint, a group and bytes.
    static let unknownFields = bytes("c03e05 c33e0801c43e c23e020102")

    @Test func unknownFieldsAndCasesAreSteppedOver() throws {
        #expect(try SignalResponse(serializedBytes: Self.unknownFields).message == nil)
        #expect(try DataPacket(serializedBytes: bytes("92f4010461626364 800107")).sequence == 7)
    }

    @Test func unknownEnumNumbersAreKept() throws {
        let info = try TrackInfo(serializedBytes: Self.unknownFields + bytes("1063"))
        #expect(info.type == .unrecognized(99))
        #expect(info.type.protoName == "99")
        #expect(info.serializedBytes() == bytes("1063"))
        let negative = try TrackInfo(serializedBytes: bytes("10ffffffffffffffffff01"))
        #expect(negative.type == .unrecognized(-1))
        #expect(negative.serializedBytes() == bytes("10ffffffffffffffffff01"))
    }

    @Test func enumsKnowTheirNamesAndNumbers() {
        #expect(TrackSource.microphone.rawValue == 2)
        #expect(TrackSource.microphone.protoName == "MICROPHONE")
        #expect(TrackSource(protoName: "MICROPHONE") == .microphone)
        #expect(TrackSource(protoName: "PHONE") == nil)
        // A number that is not the index of its value.
        #expect(ParticipantInfo.Kind(rawValue: 7) == .connector)
        #expect(ParticipantInfo.Kind(rawValue: 5) == .unrecognized(5))
        #expect(TrackSource(rawValue: .min) == .unrecognized(.min))
    }

    @Test func repeatedScalarsComePackedAndUnpacked() throws {
        let features: [AudioTrackFeature] = [.noDtx, .preconnectBuffer]
        #expect(try AddTrackRequest(serializedBytes: bytes("8a01020106")).audioFeatures == features)
        #expect(try AddTrackRequest(serializedBytes: bytes("880101 880106")).audioFeatures == features)
        #expect(try AddTrackRequest(serializedBytes: bytes("880101 8a010106")).audioFeatures == features)
    }

    @Test func lastScalarWins() throws {
        #expect(try Ping(serializedBytes: bytes("0801 0802")).timestamp == 2)
        #expect(try SignalResponse(serializedBytes: bytes("820101 61 9001 05")).message == .pong(5))
    }

    @Test func messagesThatComeTwiceAreMerged() throws {
        let join = try SignalResponse(serializedBytes: bytes("0a060a040a024d31 0a060a0412024e31"))
        guard case .join(let merged)? = join.message else {
            Issue.record("not a join")
            return
        }
        #expect(merged.room?.sid == "M1")
        #expect(merged.room?.name == "N1")
        // Another case of the oneof starts afresh.
        let replaced = try SignalResponse(serializedBytes: bytes("1202 1803 1a02 1804 1202 0a00"))
        #expect(replaced.message == .answer(SessionDescription()))
    }

    @Test func presenceIsKept() throws {
        #expect(try UserPacket(serializedBytes: []).topic == nil)
        #expect(try UserPacket(serializedBytes: bytes("2200")).topic == "")
        var packet = UserPacket()
        packet.topic = ""
        #expect(packet.serializedBytes() == bytes("2200"))
        var packetValue = DataPacket()
        packetValue.value = .user(UserPacket())
        #expect(packetValue.serializedBytes() == bytes("1200"))
    }

    @Test func mapsAreWrittenInTheOrderOfTheirKeys() throws {
        var trailer = DataStream.Trailer()
        trailer.attributes = ["b": "2", "a": "1", "": ""]
        let expected = bytes("1a040a001200 1a060a01611201 31 1a060a01621201 32")
        #expect(trailer.serializedBytes() == expected)
        #expect(try DataStream.Trailer(serializedBytes: expected) == trailer)
        // An entry may lack its key or value, and later entries replace earlier ones.
        let sparse = try DataStream.Trailer(serializedBytes: bytes("1a00 1a030a0161 1a060a0161120133"))
        #expect(sparse.attributes == ["": "", "a": "3"])
    }

    @Test func declaredFieldsOfAnotherWireTypeAreSteppedOver() throws {
        let room = try LiveKitProtocol.Room(serializedBytes: bytes("0801 12046e616d65"))
        #expect(room.sid == "")
        #expect(room.name == "name")
    }

    @Test func longLengthsTakeMoreThanOneByte() throws {
        for size in [0, 1, 127, 128, 129, 16_383, 16_384, 70_000] {
            var chunk = DataStream.Chunk()
            chunk.content = [UInt8](repeating: 7, count: size)
            var packet = DataPacket()
            packet.value = .streamChunk(chunk)
            #expect(try DataPacket(serializedBytes: packet.serializedBytes()) == packet)
        }
    }

    @Test func anyByteSequenceDecodes() throws {
        let whole = bytes("ff0802ff")
        #expect(try Ping(serializedBytes: whole[1...2]).timestamp == 2)
        #expect(try Ping(serializedBytes: AnySequence(whole[1...2])).timestamp == 2)
        #expect(try Ping(serializedBytes: []) == Ping())
    }
}
