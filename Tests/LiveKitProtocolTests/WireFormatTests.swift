import LiveKitProtocol
import Testing

private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { offset in
        let start = hex.index(hex.startIndex, offsetBy: offset)
        return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
    }
}

@Suite struct WireFormatTests {
    @Test func pingRequest() throws {
        let expected = bytes("8201090880d095ffbc31100c")
        var ping = Ping()
        ping.timestamp = 1_700_000_000_000
        ping.rtt = 12
        var request = SignalRequest()
        request.message = .pingReq(ping)
        #expect(request.serializedBytes() == expected)
        #expect(try SignalRequest(serializedBytes: expected) == request)
    }

    @Test func answerWithMap() throws {
        let expected = bytes("121c0a06616e737765721205763d300d0a180122090a0130120454525f61")
        let response = try SignalResponse(serializedBytes: expected)
        guard case .answer(let answer)? = response.message else {
            Issue.record("not an answer")
            return
        }
        #expect(answer.type == "answer")
        #expect(answer.sdp == "v=0\r\n")
        #expect(answer.id == 1)
        #expect(answer.midToTrackId == ["0": "TR_a"])
        #expect(response.serializedBytes() == expected)
    }

    @Test func addTrackWithPackedEnums() throws {
        let expected = bytes("22120a02633112036d6963400268018a01020106")
        var track = AddTrackRequest()
        track.cid = "c1"
        track.name = "mic"
        track.source = .microphone
        track.disableRed = true
        track.audioFeatures = [.noDtx, .preconnectBuffer]
        var request = SignalRequest()
        request.message = .addTrack(track)
        #expect(request.serializedBytes() == expected)
        #expect(try SignalRequest(serializedBytes: expected) == request)
    }

    @Test func refreshTokenIsABareString() throws {
        let response = try SignalResponse(serializedBytes: bytes("820103746f6b"))
        #expect(response.message == .refreshToken("tok"))
    }

    @Test func joinResponse() throws {
        let hex = "0a270a0c0a04524d5f31120464656d6f120d0a0450415f311205616c6963653001500f580562021810"
        let response = try SignalResponse(serializedBytes: bytes(hex))
        guard case .join(let join)? = response.message else {
            Issue.record("not a join")
            return
        }
        #expect(join.room?.sid == "RM_1")
        #expect(join.participant?.identity == "alice")
        #expect(join.subscriberPrimary)
        #expect(join.pingTimeout == 15)
        #expect(join.pingInterval == 5)
        #expect(join.serverInfo?.protocol == 16)
        #expect(response.serializedBytes() == bytes(hex))
    }

    @Test(arguments: [
        "2205616c6963656a240a0273311080d095ffbc311a076c6b2e63686174220a746578742f706c61696e28024a00800101",
        "72080a0273311a026869800102",
        "7a240a0273311a1e0a166c6b2e7472616e736372697074696f6e5f66696e616c120474727565800103",
        "121a12187b2274797065223a22757365725f6163746976697479227d800104",
        "2a056167656e74520f0a02723112016d1a017020c03e2801800105",
    ])
    func dataPacketsComeBackAsTheyWere(hex: String) throws {
        let packet = try DataPacket(serializedBytes: bytes(hex))
        #expect(packet.value != nil)
        #expect(packet.serializedBytes() == bytes(hex))
    }

    @Test func unknownFieldsAndCasesAreSteppedOver() throws {
        // Field 1000 as a varint, a group and bytes, then a known field, then an unknown enum number.
        let unknown: [UInt8] = [0xc0, 0x3e, 0x05, 0xc3, 0x3e, 0x08, 0x01, 0xc4, 0x3e, 0xc2, 0x3e, 0x02, 0x01, 0x02]
        #expect(try SignalResponse(serializedBytes: unknown).message == nil)
        let info = try TrackInfo(serializedBytes: unknown + [0x10, 0x63])
        #expect(info.type == .unrecognized(99))
        #expect(info.serializedBytes() == [0x10, 0x63])
    }

    @Test func hostileBytesThrow() {
        let deep = (0..<200).reduce([UInt8]()) { inner, _ in [0x0b] + inner }
        #expect(throws: ProtobufError.tooDeep) {
            try Room(serializedBytes: deep.map { _ in 0xc3 }.flatMap { [$0, 0x3e] })
        }
        #expect(throws: ProtobufError.truncated) {
            try SignalRequest(serializedBytes: [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])
        }
        #expect(throws: ProtobufError.malformedVarint) {
            try Ping(serializedBytes: [0x08] + [UInt8](repeating: 0xff, count: 11))
        }
        #expect(throws: ProtobufError.malformedTag) { try Ping(serializedBytes: [0x00]) }
        #expect(throws: ProtobufError.malformedTag) { try Ping(serializedBytes: [0x1c]) }
        #expect(throws: ProtobufError.invalidUTF8) { try LiveKitProtocol.Room(serializedBytes: [0x0a, 0x01, 0xff]) }
        #expect(throws: ProtobufError.self) { try LiveKitProtocol.Room(serializedBytes: [0x08, 0x01]) }
    }
}
