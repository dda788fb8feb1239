import LiveKitProtocol
import Testing

/// What a real server and real clients said to each other.
@Suite struct CaptureTests {
    @Test func framesComeBackAsTheyWere() throws {
        let frames = try Captures.frames()
        #expect(frames.count > 200)
        for frame in frames {
            if frame.isFromServer {
                try checkRoundTrip(SignalResponse.self, frame)
            } else {
                try checkRoundTrip(SignalRequest.self, frame)
            }
        }
    }

    private func checkRoundTrip<Message: ProtobufMessage>(_ type: Message.Type, _ frame: CapturedFrame) throws {
        let message = try Message(serializedBytes: frame.bytes)
        let encoded = message.serializedBytes()
        // Maps may come in any order, so bytes are compared by their number: nothing was lost.
        #expect(encoded.count == frame.bytes.count, "\(frame.testDescription)")
        #expect(try Message(serializedBytes: encoded) == message, "\(frame.testDescription)")
    }

    @Test func joinRequestsUnwrap() throws {
        let requests = try Captures.joinRequests()
        #expect(requests.count == 2)
        for bytes in requests {
            let wrapped = try WrappedJoinRequest(serializedBytes: bytes)
            #expect(wrapped.compression == .gzip)
            #expect(wrapped.joinRequest.starts(with: [0x1f, 0x8b]))
            #expect(wrapped.serializedBytes() == bytes)
        }
    }

    @Test func theServerJoinsTheCLI() throws {
        let frame = try #require(try Captures.frames().first { $0.capture == "lk_cli_dual_pc" })
        guard case .join(let join)? = try SignalResponse(serializedBytes: frame.bytes).message else {
            Issue.record("not a join")
            return
        }
        #expect(join.room?.name == "room-cli")
        #expect(join.room?.enabledCodecs.count == 10)
        #expect(join.room?.creationTimeMs == 1_796_109_009_464)
        #expect(join.participant?.permission?.canPublishData == true)
        #expect(join.iceServers.map(\.urls) == [["stun:127.0.0.1:3478"]])
        #expect(join.subscriberPrimary)
        #expect(join.sifTrailer.count == 43)
        #expect(join.fastPublish)
    }
}
