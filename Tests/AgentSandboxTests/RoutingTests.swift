import LiveKitProtocol
import Testing

@testable import AgentSandbox

@Suite struct RoutingTests {
    private let user = DataRouting.Sender(identity: "user", sid: "PA_user", isAgent: false)
    private let agent = DataRouting.Sender(identity: "agent", sid: "PA_agent", isAgent: true)

    private func header(identity: String, isText: Bool = true) -> DataPacket {
        var header = DataStream.Header()
        header.streamId = "s"
        header.contentHeader = isText ? .textHeader(.init()) : .byteHeader(.init())
        var packet = DataPacket()
        packet.value = .streamHeader(header)
        packet.participantIdentity = identity
        packet.sequence = 7
        packet.destinationIdentities = ["bob"]
        return packet
    }

    @Test func theSenderIsWhoItReallyIs() {
        let packet = DataRouting.forwarded(header(identity: "somebody else"), from: user, reliable: true)
        #expect(packet.participantIdentity == "user")
        #expect(packet.participantSid == "PA_user")
        #expect(packet.sequence == 7)
        #expect(packet.destinationIdentities == ["bob"])
    }

    @Test func anAgentMaySpeakOnBehalfOfAUserInTextHeaders() {
        let packet = DataRouting.forwarded(header(identity: "user"), from: agent, reliable: true)
        #expect(packet.participantIdentity == "user")
        #expect(packet.participantSid == "PA_agent")
        guard case .streamHeader(let value)? = packet.value, case .textHeader(let text)? = value.contentHeader else {
            Issue.record("no text header")
            return
        }
        #expect(text.generated)
        let bytes = DataRouting.forwarded(header(identity: "user", isText: false), from: agent, reliable: true)
        #expect(bytes.participantIdentity == "agent")
        let own = DataRouting.forwarded(header(identity: "agent"), from: agent, reliable: true)
        #expect(own == DataRouting.forwarded(header(identity: ""), from: agent, reliable: true))
    }

    @Test func theChannelTellsTheKind() {
        var packet = header(identity: "")
        packet.kind = .lossy
        #expect(DataRouting.forwarded(packet, from: user, reliable: true).kind == .reliable)
        #expect(DataRouting.forwarded(packet, from: user, reliable: false).kind == .lossy)
    }

    @Test func destinationsAreHonoured() {
        #expect(DataRouting.isAddressed(header(identity: ""), to: "bob", sid: "PA_b"))
        #expect(!DataRouting.isAddressed(header(identity: ""), to: "carol", sid: "PA_c"))
        var packet = DataPacket()
        var payload = UserPacket()
        packet.value = .user(payload)
        #expect(DataRouting.isAddressed(packet, to: "carol", sid: "PA_c"))
        payload.destinationSids = ["PA_b"]
        packet.value = .user(payload)
        #expect(DataRouting.isAddressed(packet, to: "bob", sid: "PA_b"))
        #expect(!DataRouting.isAddressed(packet, to: "carol", sid: "PA_c"))
    }

    @Test func repeatedSequenceNumbersAreDropped() {
        var filter = SequenceFilter()
        #expect([1, 2, 2, 1, 3, 0, 0].map { filter.accepts($0) } == [true, true, false, false, true, true, true])
        #expect(filter.last == 3)
    }

    @Test func theReplayBufferKnowsWhatWasMissedAndStaysBounded() {
        var buffer = ReplayBuffer()
        for number in 1...5 { buffer.append([UInt8(number)], senderSid: "PA_a", sequence: UInt32(number)) }
        buffer.append([9], senderSid: "PA_b", sequence: 1)
        #expect(buffer.missed(after: ["PA_a": 3]) == [[4], [5], [9]])
        for number in 6...5000 {
            buffer.append([UInt8](repeating: 0, count: 1000), senderSid: "PA_a", sequence: UInt32(number))
        }
        #expect(buffer.missed(after: [:]).count <= 1024)
    }

    @Test func speakersAreThoseWithEnoughLoudPackets() {
        var speakers = ActiveSpeakers()
        for _ in 0..<20 { speakers.observe("PA_a", level: 20) }
        for _ in 0..<20 { speakers.observe("PA_b", level: 90) }
        for _ in 0..<3 { speakers.observe("PA_c", level: 10) }
        let first = speakers.update()
        #expect(first.map(\.sid) == ["PA_a"])
        #expect(first.first?.active == true)
        #expect(first.first?.level == 0.125)
        for _ in 0..<20 { speakers.observe("PA_a", level: 20) }
        #expect(speakers.update().isEmpty)
        #expect(speakers.update().isEmpty)
        let last = speakers.update()
        #expect(last.map(\.active) == [false])
        #expect(speakers.current.isEmpty)
    }

    @Test func levelsAreLinearInEighths() {
        #expect(ActiveSpeakers.linear(0) == 1)
        #expect(ActiveSpeakers.linear(6) == 0.625)
        #expect(ActiveSpeakers.linear(12) == 0.375)
        #expect(ActiveSpeakers.linear(127) == 0.125)
    }

    @Test func qualityFollowsWhatIsLost() {
        var meter = QualityMeter()
        #expect(meter.measure(packets: 0, lost: 0).quality == .excellent)
        #expect(meter.measure(packets: 250, lost: 1).quality == .excellent)
        #expect(meter.measure(packets: 490, lost: 11).quality == .good)
        #expect(meter.measure(packets: 690, lost: 61).quality == .poor)
        #expect(meter.measure(packets: 690, lost: 61).quality == .excellent)
        #expect(meter.measure(packets: 10, lost: 0).quality == .excellent)
        #expect(meter.measure(packets: 11, lost: -5).quality == .excellent)
    }

    @Test func rpcEchoesAndCallsBack() throws {
        var rpc = AgentRPC()
        var request = RpcRequest()
        request.id = "r1"
        request.method = "echo"
        request.payload = "hello"
        var packet = DataPacket()
        packet.participantIdentity = "user"
        packet.value = .rpcRequest(request)
        let echoed = rpc.handle(packet)
        #expect(echoed.count == 2)
        #expect(echoed.allSatisfy { $0.destinationIdentities == ["user"] })
        guard case .rpcResponse(let response)? = echoed.last?.value else { return #expect(Bool(false)) }
        #expect(response.value == .payload("hello"))

        request.method = "call"
        request.payload = "where"
        packet.value = .rpcRequest(request)
        let called = rpc.handle(packet)
        guard case .rpcRequest(let call)? = called.last?.value else { return #expect(Bool(false)) }
        #expect(call.method == "where")
        var answer = RpcResponse()
        answer.requestId = call.id
        answer.value = .payload("here")
        var reply = DataPacket()
        reply.value = .rpcResponse(answer)
        reply.participantIdentity = "a stranger"
        #expect(rpc.handle(reply).isEmpty)
        reply.participantIdentity = "user"
        guard case .rpcResponse(let returned)? = rpc.handle(reply).last?.value else { return #expect(Bool(false)) }
        #expect(returned.requestId == "r1")
        #expect(returned.value == .payload("here"))

        request.method = "nothing"
        packet.value = .rpcRequest(request)
        guard case .rpcResponse(let refused)? = rpc.handle(packet).last?.value, case .error(let error)? = refused.value
        else { return #expect(Bool(false)) }
        #expect(error.code == 1400)
    }
}
