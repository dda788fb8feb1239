import LiveKitProtocol
import Testing

@testable import AgentCore

/// Requests and their answers, limits, and what the server may do to a session.
@Suite struct RoomRequestTests {
    private func update(_ id: UInt32) -> RoomStateMachine.Input {
        var update = UpdateParticipantMetadata()
        update.requestId = id
        update.attributes = ["a": "b"]
        return .updateMetadata(update)
    }

    private func answer(_ id: UInt32, _ reason: RequestResponse.Reason = .ok) -> SignalResponse.Message {
        var answer = RequestResponse()
        answer.requestId = id
        answer.reason = reason
        return .requestResponse(answer)
    }

    private func metadataRequests(_ driver: MachineDriver) -> [UInt32] {
        driver.requests.compactMap { if case .updateMetadata(let update) = $0 { update.requestId } else { nil } }
    }

    // MARK: Requests

    @Test func requestsBeforeTheJoinWaitForIt() {
        var driver = MachineDriver()
        driver.send(update(1))
        driver.connect()
        driver.send(update(2))
        #expect(metadataRequests(driver).isEmpty)
        driver.receive(.join(MachineDriver.join()))
        #expect(metadataRequests(driver) == [1, 2])
        driver.receive(answer(2))
        driver.receive(answer(1, .notAllowed))
        #expect(driver.requestsEnded[2] == .some(nil))
        #expect(driver.requestsEnded[1] == .refused(.notAllowed, message: ""))
        driver.receive(answer(1))
        #expect(driver.requestsEnded.count == 2, "a second answer changes nothing")
    }

    @Test func aRequestIsAnsweredInTimeOrGivenUp() {
        var driver = MachineDriver.joined { $0.pingInterval = 0 }
        driver.send(update(1))
        driver.wait(.seconds(4))
        #expect(driver.requestsEnded.isEmpty)
        driver.wait(.seconds(2))
        #expect(driver.requestsEnded == [1: .timedOut(after: .seconds(5))])
        #expect(driver.cause == nil)
    }

    @Test func aSessionThatEndsEndsItsRequests() {
        var driver = MachineDriver.joined()
        driver.send(update(1))
        driver.send(.leave)
        driver.send(update(2))
        #expect(driver.requestsEnded == [1: .disconnected, 2: .disconnected])
        var idle = MachineDriver()
        idle.send(update(1))
        idle.send(.leave)
        #expect(idle.requestsEnded == [1: .disconnected])
    }

    @Test func requestsThatWaitAreBounded() {
        var driver = MachineDriver.joined()
        for id in 1...UInt32(RoomStateMachine.maximumRequests) + 1 { driver.send(update(id)) }
        #expect(driver.requestsEnded == [65: .tooMany(limit: 64)])
        driver.receive(answer(1))
        driver.send(update(66))
        #expect(metadataRequests(driver).last == 66)
    }

    // MARK: Data over two connections

    private func joinedWithTwo(primary: Bool, fast: Bool) -> MachineDriver {
        var configuration = RoomStateMachine.Configuration()
        configuration.path = .v0
        var driver = MachineDriver(configuration)
        driver.connect()
        driver.receive(
            .join(
                MachineDriver.join {
                    $0.subscriberPrimary = primary
                    $0.fastPublish = fast
                }))
        return driver
    }

    @Test func dataOpensThePublishingConnection() {
        var lazy = joinedWithTwo(primary: true, fast: false)
        #expect(lazy.offersSent.isEmpty)
        lazy.send(.dataWaits)
        #expect(lazy.offersSent == [1])
        lazy.send(.dataWaits)
        lazy.receive(.answer(MachineDriver.description("answer", id: 1)))
        #expect(lazy.offersSent == [1], "it is open; no other offer is needed")
        lazy.send(.transportFailed(.publisher, reason: "no pair"))
        #expect(lazy.cause == .mediaFailed(reason: "no pair"), "data can no longer be sent")

        #expect(joinedWithTwo(primary: true, fast: true).offersSent == [1])
        #expect(joinedWithTwo(primary: false, fast: false).offersSent == [1])

        var idle = joinedWithTwo(primary: true, fast: false)
        idle.send(.transportFailed(.publisher, reason: "no pair"))
        #expect(idle.cause == nil, "nothing needs it")
    }

    // MARK: Negotiation

    @Test func theJoinOfferHasItsTimeFromTheJoinOn() {
        var driver = MachineDriver()
        driver.send(.connect(url: "ws://server.test", token: "t"))
        driver.wait(.seconds(9))
        driver.send(.socketOpened(generation: 1))
        driver.wait(.milliseconds(6500))
        #expect(driver.cause == nil, "both steps are within their limits")
        driver.receive(.join(MachineDriver.join { $0.pingInterval = 0 }))
        driver.send(.transportConnected(.publisher))
        driver.wait(.milliseconds(14_800))
        #expect(driver.cause == nil)
        driver.wait(.milliseconds(300))
        #expect(driver.cause == .timedOut(step: "the negotiation of media", after: .seconds(15)))
    }

    @Test func aSectionThatTheMapLeavesOutHasNoTrack() {
        var driver = MachineDriver.joined()
        driver.receive(.update(MachineDriver.update([MachineDriver.participant("PA_b", "bob", tracks: ["TR_1"])])))
        for (id, map) in [(UInt32(2), ["0": "TR_1"]), (3, [:])] {
            driver.receive(.mediaSectionsRequirement(MediaSectionsRequirement()))
            var answer = MachineDriver.description("answer", id: id, sdp: MachineDriver.sdp(msid: "placeholder x"))
            answer.midToTrackId = map
            driver.receive(.answer(answer))
            #expect(driver.machine.subscribedTracks == Set(map.values))
        }
    }

    @Test func theMapOfThePublisherIsNotThatOfTheSubscriber() {
        var driver = joinedWithTwo(primary: true, fast: true)
        var answer = MachineDriver.description("answer", id: 1)
        answer.midToTrackId = ["0": "TR_own"]
        driver.receive(.answer(answer))
        driver.receive(.update(MachineDriver.update([MachineDriver.participant("PA_b", "bob", tracks: ["TR_1"])])))
        let sdp = MachineDriver.sdp(msid: "PA_b|camera TR_1")
        driver.receive(.offer(MachineDriver.description("offer", id: 5, sdp: sdp)))
        #expect(driver.machine.subscribedTracks == ["TR_1"])
    }

    @Test func sectionsForReceivingAreBounded() {
        var driver = MachineDriver.joined()
        var requirement = MediaSectionsRequirement()
        requirement.numAudios = .max
        for id in 2...5 {
            driver.receive(.mediaSectionsRequirement(requirement))
            driver.receive(.answer(MachineDriver.description("answer", id: UInt32(id))))
        }
        #expect(driver.addedReceivers == RoomStateMachine.maximumReceivers)
        #expect(driver.offersSent == [2, 3, 4, 5], "an offer is wanted all the same")
    }

    @Test func joiningByOneConnectionOnlyDoesNotFallBack() {
        var configuration = RoomStateMachine.Configuration()
        configuration.fallsBack = false
        var driver = MachineDriver(configuration)
        driver.send(.connect(url: "ws://server.test", token: "t"))
        driver.send(.socketRefused(generation: 1, status: 404, body: ""))
        driver.send(.validated(generation: 1, status: 404, body: ""))
        guard case .unreachable? = driver.cause else {
            Issue.record("\(String(describing: driver.cause))")
            return
        }
        #expect(driver.sockets.count == 1)
    }

    // MARK: What the server does

    @Test func aSubscriptionToldEarlyIsKept() {
        var driver = MachineDriver.joined()
        driver.publish("mic")
        var subscribed = TrackSubscribed()
        subscribed.trackSid = "TR_mic"
        driver.receive(.trackSubscribed(subscribed))
        #expect(!driver.events.contains(.localTrackSubscribed(trackSid: "TR_mic")))
        driver.receive(.trackPublished(MachineDriver.published("mic", "TR_mic")))
        let own = driver.events.suffix(2)
        #expect(own.last == .localTrackSubscribed(trackSid: "TR_mic"))
        guard case .localTrackPublished("mic", _)? = own.first else {
            Issue.record("\(own)")
            return
        }
    }

    @Test func leavesSayWhatTheServerWants() {
        for (action, mayReturn, cause) in [
            (LeaveRequest.Action.disconnect, false, DisconnectCause.server(.roomDeleted)),
            (.resume, false, .serverAskedToReconnect(.roomDeleted)),
            (.reconnect, false, .serverAskedToReconnect(.roomDeleted)),
            (.disconnect, true, .serverAskedToReconnect(.roomDeleted)),
        ] {
            var driver = MachineDriver.joined()
            var leave = LeaveRequest()
            leave.action = action
            leave.canReconnect = mayReturn
            leave.reason = .roomDeleted
            driver.receive(.leave(leave))
            #expect(driver.cause == cause)
            #expect(driver.cause?.description.contains("the room was deleted") == true)
            #expect(driver.cause?.category == .connection)
            #expect(driver.leaves == 0)
        }
    }

    @Test func speakersAreTheOnesWhoSpeakNow() {
        func change(_ sid: String, _ level: Float, _ isActive: Bool) -> SpeakerInfo {
            var speaker = SpeakerInfo()
            speaker.sid = sid
            speaker.level = level
            speaker.active = isActive
            return speaker
        }
        func changed(_ speakers: [SpeakerInfo]) -> SignalResponse.Message {
            var message = SpeakersChanged()
            message.speakers = speakers
            return .speakersChanged(message)
        }
        var driver = MachineDriver.joined()
        driver.receive(.update(MachineDriver.update([MachineDriver.participant("PA_b", "bob")])))
        driver.receive(changed([change("PA_b", 0.2, true)]))
        driver.receive(changed([change("PA_me", 0.5, true)]))
        // Bob comes back with another sid, so that the server's entry for the old one never ends.
        driver.receive(.update(MachineDriver.update([MachineDriver.participant("PA_b2", "bob")])))
        driver.receive(changed([change("PA_me", 0, false)]))
        let speakers = driver.events.compactMap { event -> [String]? in
            if case .activeSpeakersChanged(let who) = event { who.map(\.sid) } else { nil }
        }
        #expect(speakers == [["PA_b"], ["PA_me", "PA_b"], ["PA_me"], []])
    }

    @Test func aMoveReplacesTheRoomAndNeverShowsTheToken() {
        var driver = MachineDriver.joined()
        driver.receive(.update(MachineDriver.update([MachineDriver.participant("PA_b", "bob")])))
        var move = RoomMovedResponse()
        var room = LiveKitProtocol.Room()
        room.sid = "RM_2"
        room.name = "other"
        move.room = room
        move.token = "moved-token"
        move.participant = MachineDriver.participant("PA_me2", "alice")
        move.otherParticipants = [MachineDriver.participant("PA_c", "carol")]
        driver.receive(.roomMoved(move))
        #expect(driver.machine.token == "moved-token")
        #expect(driver.machine.room?.name == "other")
        #expect(driver.machine.local?.sid == "PA_me2")
        #expect(Array(driver.machine.remotes.keys) == ["carol"])
        #expect(!driver.events.map { String(describing: $0) }.contains { $0.contains("moved-token") })
        driver.receive(.refreshToken("newer-token"))
        #expect(driver.machine.token == "newer-token")
    }

    @Test func forcedRelaysReachTheTransport() {
        var driver = MachineDriver()
        driver.connect()
        var client = ClientConfiguration()
        client.forceRelay = .enabled
        driver.receive(.join(MachineDriver.join { $0.clientConfiguration = client }))
        #expect(driver.effects.contains(.useICEServers([], relayOnly: true)))
    }
}
