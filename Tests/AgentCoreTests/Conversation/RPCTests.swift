import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentCore

/// Two endpoints that hand each other packets, as the server would: with the sender's identity on them.
private struct Pair {
    var caller = RPCEndpoint()
    var callee = RPCEndpoint()
    var now = MonotonicTime(nanoseconds: 0)

    static func sent(_ packets: [DataPacket], by identity: String) -> [DataPacket] {
        packets.map {
            var packet = $0
            packet.participantIdentity = identity
            return packet
        }
    }

    /// Delivers packets to the callee; its events, and its packets on their way back.
    mutating func deliver(_ packets: [DataPacket]) -> (events: [RPCEndpoint.Event], packets: [DataPacket]) {
        var events: [RPCEndpoint.Event] = []
        var back: [DataPacket] = []
        for packet in Self.sent(packets, by: "alice") {
            let output = callee.receive(packet, now: now)
            events += output.events
            back += output.packets
        }
        return (events, back)
    }

    mutating func deliverBack(_ packets: [DataPacket], from identity: String = "bob") -> [RPCEndpoint.Event] {
        Self.sent(packets, by: identity).flatMap { caller.receive($0, now: now).events }
    }
}

@Suite struct RPCTests {
    private func begin(_ pair: inout Pair, method: String = "greet", payload: String = "hi") -> [DataPacket] {
        pair.callee.methods = ["greet"]
        let output = pair.caller.call(
            id: "1", callee: "bob", method: method, payload: payload, timeout: .seconds(10), now: pair.now)
        #expect(output.events == [])
        #expect(output.packets.map(\.destinationIdentities) == [["bob"]])
        return output.packets
    }

    @Test func aCallIsAnswered() {
        var pair = Pair()
        let (events, acknowledgement) = pair.deliver(begin(&pair))
        guard case .request(let request)? = events.first else {
            Issue.record("no request")
            return
        }
        #expect(request.caller == "alice")
        #expect(request.method == "greet")
        #expect(request.payload == "hi")
        #expect(pair.deliverBack(acknowledgement) == [])
        let answer = pair.callee.answer("1", with: .success("hello"))
        #expect(pair.deliverBack(answer.packets) == [.ended(id: "1", .success("hello"))])
        // Once only.
        #expect(pair.callee.answer("1", with: .success("again")) == RPCEndpoint.Output())
        #expect(pair.deliverBack(answer.packets) == [])
        #expect(pair.caller.openCalls == 0)
        #expect(pair.callee.openCalls == 0)
    }

    @Test func errorsComeBack() {
        var pair = Pair()
        _ = pair.deliver(begin(&pair))
        let answer = pair.callee.answer("1", with: .failure(RPCError(code: 42, message: "no", data: "{}")))
        #expect(
            pair.deliverBack(answer.packets) == [
                .ended(id: "1", .failure(RPCError(code: 42, message: "no", data: "{}")))
            ])
    }

    @Test func anUnknownMethodIsRefused() {
        var pair = Pair()
        let (events, back) = pair.deliver(begin(&pair, method: "nothing"))
        #expect(events == [])
        #expect(pair.deliverBack(back) == [.ended(id: "1", .failure(.unsupportedMethod))])
    }

    @Test func payloadsAreBounded() {
        var pair = Pair()
        let long = String(repeating: "x", count: RPCEndpoint.maximumPayload + 1)
        let refused = pair.caller.call(id: "1", callee: "bob", method: "m", payload: long, now: pair.now)
        #expect(refused == RPCEndpoint.Output(events: [.ended(id: "1", .failure(.requestPayloadTooLarge))]))
        _ = pair.deliver(begin(&pair, payload: String(long.dropLast())))
        let answer = pair.callee.answer("1", with: .success(long))
        #expect(pair.deliverBack(answer.packets) == [.ended(id: "1", .failure(.responsePayloadTooLarge))])
        #expect(RPCError(code: 1, message: String(repeating: "é", count: 200)).message.utf8.count == 256)
    }

    @Test func timeLimits() {
        var pair = Pair()
        var packets = begin(&pair)
        #expect(pair.caller.tick(now: pair.now + .milliseconds(6_999)).events == [])
        #expect(pair.caller.tick(now: pair.now + .seconds(7)).events == [.ended(id: "1", .failure(.connectionTimeout))])
        packets = begin(&pair)
        _ = pair.deliverBack(pair.deliver(packets).packets)
        #expect(pair.caller.tick(now: pair.now + .milliseconds(9_999)).events == [])
        #expect(pair.caller.tick(now: pair.now + .seconds(10)).events == [.ended(id: "1", .failure(.responseTimeout))])
        // The callee forgets it too, and a late answer goes nowhere.
        _ = pair.callee.tick(now: pair.now + .seconds(11))
        #expect(pair.callee.answer("1", with: .success("late")) == RPCEndpoint.Output())
    }

    @Test func whoLeavesEndsTheCall() {
        var pair = Pair()
        _ = pair.deliver(begin(&pair))
        #expect(pair.caller.participantLeft(identity: "carol").events == [])
        #expect(
            pair.caller.participantLeft(identity: "bob").events == [.ended(id: "1", .failure(.recipientDisconnected))])
        _ = pair.callee.participantLeft(identity: "alice")
        #expect(pair.callee.openCalls == 0)
    }

    @Test func onlyTheCalleeAnswers() {
        var pair = Pair()
        _ = pair.deliver(begin(&pair))
        let answer = pair.callee.answer("1", with: .success("forged"))
        #expect(pair.deliverBack(answer.packets, from: "mallory") == [])
        #expect(pair.caller.openCalls == 1)
    }

    @Test func whatIsOpenIsBounded() {
        var endpoint = RPCEndpoint()
        endpoint.methods = ["m"]
        for index in 0..<1_000 {
            var request = RpcRequest()
            request.id = String(index)
            request.method = "m"
            request.version = 1
            request.responseTimeoutMs = .max
            var packet = DataPacket()
            packet.value = .rpcRequest(request)
            packet.participantIdentity = "x"
            _ = endpoint.receive(packet, now: .init(nanoseconds: 0))
            // A repeated request changes nothing.
            #expect(endpoint.receive(packet, now: .init(nanoseconds: 0)).events == [])
        }
        #expect(endpoint.openCalls == endpoint.limits.openCalls)
    }
}
