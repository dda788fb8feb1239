import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentCore

@Suite struct RoomStateMachineTests {
    private let refusal = "invalid authorization token"

    // MARK: Joining

    @Test func theFirstOfferTravelsInTheJoinRequest() throws {
        var driver = MachineDriver()
        driver.send(.connect(url: "http://server.test/base/", token: "secret-token"))
        let socket = try #require(driver.sockets.first)
        #expect(socket.url.hasPrefix("ws://server.test/base/rtc/v1?join_request="))
        #expect(socket.token == "secret-token")
        #expect(!socket.url.contains("secret-token"))
        #expect(!socket.url.contains("+") && socket.url.filter { $0 == "=" }.count == 1)
        #expect(driver.offersSent.isEmpty)
    }

    @Test func a404FallsBackToTwoConnectionsWithNothingKept() throws {
        var driver = MachineDriver()
        driver.send(.connect(url: "ws://server.test", token: "t"))
        driver.send(.socketRefused(generation: 1, status: 404, body: "404 page not found"))
        #expect(driver.machine.phase == .validating)
        driver.send(.validated(generation: 1, status: 404, body: "404 page not found"))
        #expect(driver.machine.path == .v0)
        #expect(driver.machine.generation == 2)
        let url = try #require(driver.sockets.last?.url)
        #expect(url.hasPrefix("ws://server.test/rtc?"))
        #expect(url.contains("protocol=16") && url.contains("auto_subscribe=1"))
        // What the first socket still says does not touch the second attempt.
        driver.send(.socketFailed(generation: 1, reason: "late"))
        #expect(driver.cause == nil)
    }

    @Test func a404OfAMissingRoomIsNoFallback() {
        var driver = MachineDriver()
        driver.send(.connect(url: "ws://server.test", token: "t"))
        driver.send(.socketRefused(generation: 1, status: 404, body: ""))
        driver.send(.validated(generation: 1, status: 404, body: "requested room does not exist"))
        #expect(driver.cause == .roomNotFound(server: "ws://server.test"))
    }

    @Test func aRefusedTokenIsAnAuthorizationError() {
        var driver = MachineDriver()
        driver.send(.connect(url: "ws://server.test", token: "t"))
        driver.send(.socketRefused(generation: 1, status: 401, body: ""))
        driver.send(.validated(generation: 1, status: 401, body: refusal))
        #expect(driver.cause == .unauthorized(server: "ws://server.test", status: 401, reason: refusal))
        #expect(driver.cause?.category == .authorization)
    }

    @Test func anUnansweredValidationLeavesTheRefusal() {
        var driver = MachineDriver()
        driver.send(.connect(url: "ws://server.test", token: "t"))
        driver.send(.socketRefused(generation: 1, status: 503, body: "no node"))
        driver.wait(.seconds(6))
        #expect(driver.cause == .rejected(server: "ws://server.test", status: 503, reason: "no node"))
    }

    @Test func everyStepHasALimit() {
        var opening = MachineDriver()
        opening.send(.connect(url: "ws://server.test", token: "t"))
        opening.wait(.seconds(11))
        #expect(opening.cause == .timedOut(step: "connecting to ws://server.test", after: .seconds(10)))

        var joining = MachineDriver()
        joining.connect()
        joining.wait(.seconds(8))
        #expect(joining.cause == .timedOut(step: "joining the room", after: .seconds(7)))
        #expect(joining.leaves == 1, "a session that fails after the socket opened says so")

        var media = MachineDriver()
        media.connect()
        var join = JoinResponse()
        join.participant = MachineDriver.participant("PA_me", "alice")
        media.receive(.join(join))
        media.receive(.answer(MachineDriver.description("answer", id: 1)))
        media.wait(.seconds(16))
        #expect(media.cause == .timedOut(step: "the media connection", after: .seconds(15)))
    }

    @Test func theServerMayCloseAtAnyStep() {
        for step in 0..<4 {
            var driver = MachineDriver()
            driver.send(.connect(url: "ws://server.test", token: "t"))
            if step >= 1 { driver.send(.socketOpened(generation: 1)) }
            if step >= 2 {
                var join = JoinResponse()
                join.participant = MachineDriver.participant("PA_me", "alice")
                driver.receive(.join(join))
            }
            if step >= 3 { driver.receive(.answer(MachineDriver.description("answer", id: 1))) }
            driver.send(.socketClosed(generation: 1, reason: ""))
            guard case .signalLost? = driver.cause else {
                Issue.record("step \(step): \(String(describing: driver.cause))")
                continue
            }
            #expect(driver.cause?.category == .connection)
            #expect(driver.machine.phase.isOver)
        }
    }

    @Test func aLeaveInsteadOfTheJoinEnds() {
        var driver = MachineDriver()
        driver.connect()
        var leave = LeaveRequest()
        leave.reason = .duplicateIdentity
        driver.receive(.leave(leave))
        #expect(driver.cause == .server(.duplicateIdentity))
        #expect(driver.leaves == 0)
    }

    @Test func leavingIsPossibleAtAnyTimeAndOnce() {
        var early = MachineDriver()
        early.connect()
        early.send(.leave)
        early.send(.leave)
        #expect(early.leaves == 1)
        #expect(early.cause == .clientInitiated)
        var joined = MachineDriver.joined()
        joined.send(.leave)
        #expect(joined.leaves == 1)
        #expect(joined.events.count { if case .disconnected = $0 { true } else { false } } == 1)
        let count = joined.effects.count
        joined.send(.socketClosed(generation: 1, reason: "late"))
        joined.wait(.seconds(30))
        #expect(joined.effects.count == count, "nothing happens after the end")
    }

    // MARK: Keep-alive

    @Test func aSilentServerIsNoticed() {
        var driver = MachineDriver.joined()
        // The join's own ping was answered by traffic; the next, after 5 s, never is.
        driver.wait(.seconds(19))
        #expect(driver.cause == nil)
        driver.wait(.seconds(2))
        #expect(driver.cause == .signalLost(reason: "no answer to a ping for 15 s"))
    }

    @Test func anAnswerKeepsTheConnectionAlive() {
        var driver = MachineDriver.joined()
        for _ in 0..<20 {
            driver.wait(.seconds(5))
            driver.receive(.pongResp(Pong()))
        }
        #expect(driver.cause == nil)
    }

    @Test func zeroMeansNoPings() {
        var driver = MachineDriver.joined { $0.pingInterval = 0 }
        driver.wait(.seconds(100))
        #expect(driver.cause == nil)
        #expect(!driver.requests.contains { if case .pingReq = $0 { true } else { false } })
    }

    // MARK: Negotiation

    @Test func oneOfferIsOutstandingAndWishesAreServedByTheNext() {
        var driver = MachineDriver.joined()
        for _ in 0..<5 { driver.receive(.mediaSectionsRequirement(MediaSectionsRequirement())) }
        #expect(driver.offersSent == [2])
        driver.receive(.answer(MachineDriver.description("answer", id: 1)))
        #expect(driver.offersSent == [2], "an answer to an older offer is dropped")
        driver.receive(.answer(MachineDriver.description("answer", id: 2)))
        #expect(driver.offersSent == [2, 3])
        driver.receive(.answer(MachineDriver.description("answer", id: 3)))
        #expect(driver.offersSent == [2, 3])
    }

    @Test func anUnansweredOfferEndsTheSession() {
        var driver = MachineDriver.joined { $0.pingInterval = 0 }
        driver.receive(.mediaSectionsRequirement(MediaSectionsRequirement()))
        driver.wait(.seconds(16))
        #expect(driver.cause == .timedOut(step: "the negotiation of media", after: .seconds(15)))
    }

    @Test func candidatesWaitForTheJoin() {
        var driver = MachineDriver()
        driver.send(.connect(url: "ws://server.test", token: "t"))
        driver.send(.candidateFound(.publisher, json: "one"))
        driver.send(.socketOpened(generation: 1))
        #expect(driver.requests.isEmpty)
        var join = JoinResponse()
        join.participant = MachineDriver.participant("PA_me", "alice")
        driver.receive(.join(join))
        #expect(
            driver.requests.contains {
                if case .trickle(let trickle) = $0 { trickle.candidateInit == "one" } else { false }
            })
    }

    @Test func aReusedSectionIsTheTrackOfTheServersMap() {
        var driver = MachineDriver.joined()
        driver.receive(.update(MachineDriver.update([MachineDriver.participant("PA_b", "bob", tracks: ["TR_1"])])))
        driver.receive(.mediaSectionsRequirement(MediaSectionsRequirement()))
        var first = MachineDriver.description("answer", id: 2, sdp: MachineDriver.sdp(msid: "PA_b|TR_1 TR_1"))
        first.midToTrackId = ["0": "TR_1"]
        driver.receive(.answer(first))
        #expect(driver.machine.subscribedTracks == ["TR_1"])
        driver.receive(.mediaSectionsRequirement(MediaSectionsRequirement()))
        // The same section, with the old track id in its msid.
        var second = MachineDriver.description("answer", id: 3, sdp: MachineDriver.sdp(msid: "PA_c|TR_1 TR_1"))
        second.midToTrackId = ["0": "TR_2"]
        driver.receive(.answer(second))
        #expect(driver.machine.subscribedTracks == ["TR_2"])
        #expect(driver.events.contains(.trackUnsubscribed(trackSid: "TR_1")))
    }

    @Test func placeholdersAndOddStreamsAreNoTracks() {
        var driver = MachineDriver.joined()
        for stream in ["camera TR_x", "PA_only TR_x", "PA_a|b|c TR_x", "- -"] {
            driver.send(.receiving(MachineDriver.receiving(MachineDriver.sdp(msid: stream))))
        }
        #expect(driver.machine.subscribedTracks.isEmpty)
    }

    // MARK: Participants

    @Test func olderVersionsAndRejoinsAreToldApart() {
        var driver = MachineDriver.joined()
        driver.receive(.update(MachineDriver.update([MachineDriver.participant("PA_b", "bob", version: 5)])))
        driver.receive(
            .update(MachineDriver.update([MachineDriver.participant("PA_b", "bob", version: 3, tracks: ["TR_1"])])))
        #expect(driver.machine.remotes["bob"]?.tracks.isEmpty == true)
        driver.receive(.update(MachineDriver.update([MachineDriver.participant("PA_b2", "bob", version: 1)])))
        #expect(driver.machine.remotes["bob"]?.sid == "PA_b2")
        // The end of the old one, which comes late, is not the end of the new one.
        driver.receive(
            .update(MachineDriver.update([MachineDriver.participant("PA_b", "bob", version: 9, state: .disconnected)])))
        #expect(driver.machine.remotes["bob"]?.sid == "PA_b2")
        let kinds = driver.events.compactMap { event -> String? in
            switch event {
            case .participantJoined(let who): "join \(who.sid)"
            case .participantLeft(let who, _): "left \(who.sid)"
            default: nil
            }
        }
        #expect(kinds == ["join PA_b", "left PA_b", "join PA_b2"])
    }

    @Test func agentsAreOfKindAgentAndNoAvatars() {
        var info = MachineDriver.participant("PA_x", "agent")
        info.kind = .agent
        #expect(Participant(info).isAgent)
        info.attributes = ["lk.publish_on_behalf": "agent-1"]
        #expect(!Participant(info).isAgent)
        info.attributes = ["lk.agent.state": "speaking"]
        #expect(Participant(info).agentState == .speaking)
        info.attributes = ["lk.agent.state": "dreaming"]
        #expect(Participant(info).agentState == .other("dreaming"))
    }

    // MARK: Publishing

    @Test func aRefusedTrackFailsAndALateAnswerIsIgnored() {
        var driver = MachineDriver.joined()
        var request = AddTrackRequest()
        request.cid = "mic"
        driver.send(.publish(request))
        var answer = RequestResponse()
        answer.reason = .notAllowed
        answer.request = .addTrack(request)
        driver.receive(.requestResponse(answer))
        #expect(driver.events.contains { if case .publishFailed("mic", _) = $0 { true } else { false } })
        driver.receive(.trackPublished(MachineDriver.published("mic", "TR_1")))
        #expect(!driver.effects.contains { if case .addSender = $0 { true } else { false } })
    }

    @Test func anUnansweredTrackFailsInTime() {
        var driver = MachineDriver.joined { $0.pingInterval = 0 }
        var request = AddTrackRequest()
        request.cid = "mic"
        driver.send(.publish(request))
        driver.wait(.seconds(11))
        #expect(driver.events.contains { if case .publishFailed("mic", _) = $0 { true } else { false } })
    }

    @Test func mutesAreSentOnceAndTheServersIsTakenOver() {
        var driver = MachineDriver.joined()
        var request = AddTrackRequest()
        request.cid = "mic"
        driver.send(.publish(request))
        driver.send(.setMuted(cid: "mic", true))
        driver.receive(.trackPublished(MachineDriver.published("mic", "TR_1")))
        driver.send(.setMuted(cid: "mic", true))
        let mutes = driver.requests.compactMap { if case .mute(let mute) = $0 { mute.muted } else { nil } }
        #expect(mutes == [true], "the wish of before the answer is sent with it, and no repetition")
        var mute = MuteTrackRequest()
        mute.sid = "TR_1"
        mute.muted = false
        driver.receive(.mute(mute))
        #expect(!driver.machine.isMuted(cid: "mic"))
        #expect(driver.events.contains(.localTrackMuted(trackSid: "TR_1", isMuted: false)))
    }

    // MARK: Anything at all

    @Test func noSequenceOfInputsBreaksTheMachine() throws {
        var generator = SplitMix64(seed: 7)
        let frames = try Captures.frames("python_sdk_events").filter(\.isServer)
            .map { try SignalResponse(serializedBytes: $0.bytes) }
        for _ in 0..<300 {
            var configuration = RoomStateMachine.Configuration()
            if Bool.random(using: &generator) { configuration.path = .v0 }
            var driver = MachineDriver(configuration)
            var requests: UInt32 = 0
            if Bool.random(using: &generator) { driver.connect() }
            for _ in 0..<60 {
                driver.now = driver.now + .milliseconds(Int64.random(in: 0...900, using: &generator))
                let generation = Int.random(in: 0...2, using: &generator)
                var request = AddTrackRequest()
                request.cid = "c\(Int.random(in: 0...3, using: &generator))"
                switch Int.random(in: 0...24, using: &generator) {
                case 0: driver.send(.connect(url: "ws://server.test", token: "t"))
                case 1: driver.send(.socketOpened(generation: generation))
                case 2: driver.send(.publish(request))
                case 3: driver.send(.setMuted(cid: request.cid, Bool.random(using: &generator)))
                case 4: driver.send(.transportConnected(Bool.random(using: &generator) ? .publisher : .subscriber))
                case 5: driver.send(.offerMade(sdp: "unasked"))
                case 6: driver.send(.validated(generation: generation, status: 404, body: ""))
                case 7 where Int.random(in: 0...5, using: &generator) == 0:
                    driver.send(.socketRefused(generation: generation, status: 404, body: ""))
                case 8: driver.send(.receiving([.init(mid: "0", stream: "PA_x|TR_x", track: "TR_x")]))
                case 9: driver.send(.tick)
                case 10:
                    requests += 1
                    var update = UpdateParticipantMetadata()
                    update.requestId = requests
                    driver.send(.updateMetadata(update))
                case 11: driver.send(.dataWaits)
                case 12:
                    let id = UInt32.random(in: 0...4, using: &generator)
                    driver.receive(.answer(MachineDriver.description("answer", id: id)))
                case 13: driver.receive(.offer(MachineDriver.description("offer", id: 7)))
                case 14: driver.send(.answerMade(sdp: "unasked", id: 3))
                case 15 where Int.random(in: 0...5, using: &generator) == 0:
                    driver.send(.transportFailed(.subscriber, reason: "any"))
                default:
                    if let frame = frames.randomElement(using: &generator) {
                        driver.send(.received(generation: driver.machine.generation, frame))
                    }
                }
            }
            driver.send(.leave)
            #expect(driver.machine.phase.isOver)
            #expect(driver.events.count { if case .disconnected = $0 { true } else { false } } == 1)
            #expect(driver.requestsEnded.keys.sorted() == Array(0..<requests).map { $0 + 1 }, "each request ends")
            #expect(driver.events.last == .disconnected(driver.cause ?? .clientInitiated))
            let offers = driver.offersSent
            #expect(zip(offers, offers.dropFirst()).allSatisfy { $0 < $1 }, "\(offers)")
        }
    }
}

/// A small generator, so that a failing sequence can be had again.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
