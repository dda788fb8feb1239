import Foundation
import LiveKitProtocol
import Testing

/// Messages whose bytes are known from other implementations.
@Suite struct VectorTests {
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

    @Test func offer() throws {
        let expected = bytes("0a100a056f666665721205763d300d0a1801")
        var offer = SessionDescription()
        offer.type = "offer"
        offer.sdp = "v=0\r\n"
        offer.id = 1
        var request = SignalRequest()
        request.message = .offer(offer)
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

    @Test func leave() throws {
        var leave = LeaveRequest()
        leave.reason = .clientInitiated
        var request = SignalRequest()
        request.message = .leave(leave)
        #expect(request.serializedBytes() == bytes("42021001"))
    }

    @Test func refreshTokenIsABareString() throws {
        let response = try SignalResponse(serializedBytes: bytes("820103746f6b"))
        #expect(response.message == .refreshToken("tok"))
        #expect(response.serializedBytes() == bytes("820103746f6b"))
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

    @Test func wrappedJoinRequest() throws {
        let parameter = "EhEKCwgIEgUxLjAuMBgQEgIIAQ=="
        var join = JoinRequest()
        var client = ClientInfo()
        client.sdk = .rust
        client.version = "1.0.0"
        client.protocol = 16
        join.clientInfo = client
        var settings = ConnectionSettings()
        settings.autoSubscribe = true
        join.connectionSettings = settings
        var wrapped = WrappedJoinRequest()
        wrapped.joinRequest = join.serializedBytes()
        #expect(Data(wrapped.serializedBytes()).base64EncodedString() == parameter)
        let decoded = try WrappedJoinRequest(serializedBytes: Data(base64Encoded: parameter) ?? Data())
        #expect(decoded.compression == .none)
        #expect(try JoinRequest(serializedBytes: decoded.joinRequest) == join)
    }

    @Test func streamHeader() throws {
        let hex =
            "2205616c6963656a240a0273311080d095ffbc311a076c6b2e63686174220a746578742f706c61696e28024a00800101"
        let packet = try DataPacket(serializedBytes: bytes(hex))
        guard case .streamHeader(let header)? = packet.value else {
            Issue.record("not a header")
            return
        }
        #expect(packet.participantIdentity == "alice")
        #expect(packet.sequence == 1)
        #expect(header.streamId == "s1")
        #expect(header.timestamp == 1_700_000_000_000)
        #expect(header.topic == "lk.chat")
        #expect(header.mimeType == "text/plain")
        #expect(header.totalLength == 2)
        // Present though empty: it is what tells text from bytes.
        #expect(header.contentHeader == .textHeader(DataStream.TextHeader()))
        #expect(packet.serializedBytes() == bytes(hex))
    }

    @Test func streamChunk() throws {
        let packet = try DataPacket(serializedBytes: bytes("72080a0273311a026869800102"))
        guard case .streamChunk(let chunk)? = packet.value else {
            Issue.record("not a chunk")
            return
        }
        #expect(chunk.streamId == "s1")
        #expect(chunk.chunkIndex == 0)
        #expect(chunk.content == Array("hi".utf8))
        #expect(packet.sequence == 2)
        #expect(packet.serializedBytes() == bytes("72080a0273311a026869800102"))
    }

    @Test func streamTrailer() throws {
        let hex = "7a240a0273311a1e0a166c6b2e7472616e736372697074696f6e5f66696e616c120474727565800103"
        let packet = try DataPacket(serializedBytes: bytes(hex))
        guard case .streamTrailer(let trailer)? = packet.value else {
            Issue.record("not a trailer")
            return
        }
        #expect(trailer.attributes == ["lk.transcription_final": "true"])
        #expect(packet.serializedBytes() == bytes(hex))
    }

    @Test func userPacket() throws {
        let hex = "121a12187b2274797065223a22757365725f6163746976697479227d800104"
        let packet = try DataPacket(serializedBytes: bytes(hex))
        guard case .user(let user)? = packet.value else {
            Issue.record("not a user packet")
            return
        }
        #expect(String(decoding: user.payload, as: UTF8.self) == #"{"type":"user_activity"}"#)
        #expect(user.topic == nil)
        #expect(packet.serializedBytes() == bytes(hex))
    }

    @Test func rpcRequest() throws {
        let hex = "2a056167656e74520f0a02723112016d1a017020c03e2801800105"
        let packet = try DataPacket(serializedBytes: bytes(hex))
        guard case .rpcRequest(let request)? = packet.value else {
            Issue.record("not an RPC request")
            return
        }
        #expect(packet.destinationIdentities == ["agent"])
        #expect(request.id == "r1")
        #expect(request.method == "m")
        #expect(request.payload == "p")
        #expect(request.responseTimeoutMs == 8000)
        #expect(request.version == 1)
        #expect(packet.serializedBytes() == bytes(hex))
    }
}
