import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentCore

/// The traffic of a real server, fed to the machine in the order in which it was recorded.
@Suite struct RoomReplayTests {
    private func replay(
        _ name: String, connection: Int, _ configuration: RoomStateMachine.Configuration = .init(),
        publishing cid: String? = nil, until limit: Int = .max
    ) throws -> MachineDriver {
        var driver = MachineDriver(configuration)
        if let cid {
            var request = AddTrackRequest()
            request.cid = cid
            driver.send(.publish(request))
        }
        driver.connect()
        for (index, frame) in try Captures.frames(name).filter({ $0.connection == connection && $0.isServer })
            .enumerated()
        {
            guard index < limit else { break }
            let response = try SignalResponse(serializedBytes: frame.bytes)
            driver.send(.received(generation: driver.machine.generation, response))
            if driver.machine.phase == .connectingMedia {
                driver.send(.transportConnected(driver.machine.subscriberPrimary ? .subscriber : .publisher))
            }
            driver.now = driver.now + .milliseconds(10)
        }
        return driver
    }

    @Test func aSubscriberOverOneConnection() throws {
        let driver = try replay("python_sdk", connection: 1)
        #expect(driver.events.contains(.connectionStateChanged(.connected)))
        let subscribed = driver.events.compactMap { event -> (String, String?)? in
            guard case .trackSubscribed(let sid, let participant) = event else { return nil }
            return (sid, participant?.identity)
        }
        #expect(subscribed.map(\.0) == ["TR_AMHiMD4fxkyTbE"])
        #expect(subscribed.map(\.1) == ["alice"])
        let joins = driver.events.compactMap { if case .participantJoined(let who) = $0 { who.identity } else { nil } }
        #expect(joins == ["alice"])
        let left = driver.events.compactMap { event -> DisconnectReason? in
            if case .participantLeft(let who, let reason) = event, who.identity == "alice" { reason } else { nil }
        }
        #expect(left == [.clientInitiated])
        #expect(
            driver.events.contains {
                if case .activeSpeakersChanged(let who) = $0 { who.first?.active == true } else { false }
            })
        // The requirement without numbers is answered by a second offer all the same.
        #expect(driver.offersSent == [2])
        #expect(driver.requests.contains { if case .pingReq = $0 { true } else { false } })
    }

    @Test func aPublisherOverOneConnection() throws {
        let driver = try replay("python_sdk", connection: 2, publishing: "20880211-3924-446d-99d6-028dcdcb433c")
        #expect(
            driver.requests.contains {
                if case .addTrack(let request) = $0 { request.cid.hasPrefix("20880211") } else { false }
            })
        let published = driver.events.compactMap { event -> String? in
            if case .localTrackPublished(_, let track) = event { track.sid } else { nil }
        }
        #expect(published == ["TR_AMHiMD4fxkyTbE"])
        #expect(driver.events.contains(.localTrackSubscribed(trackSid: "TR_AMHiMD4fxkyTbE")))
        #expect(driver.effects.contains { if case .addSender = $0 { true } else { false } })
        #expect(driver.offersSent == [2])
    }

    @Test func twoConnectionsAsOlderServersHaveThem() throws {
        var configuration = RoomStateMachine.Configuration()
        configuration.path = .v0
        let driver = try replay("lk_cli_dual_pc", connection: 1, configuration)
        #expect(driver.events.contains(.connectionStateChanged(.connected)))
        #expect(driver.machine.subscriberPrimary)
        let answers = driver.requests.compactMap { if case .answer(let answer) = $0 { answer.id } else { nil } }
        #expect(answers.first == 92, "the answer names the offer it belongs to")
        #expect(driver.offersSent.first == 1)
    }

    @Test(arguments: [1, 2, 3, 4]) func aUserAnAgentAndAServerThatActs(connection: Int) throws {
        let frames = try Captures.frames("python_sdk_events").filter { $0.connection == connection && $0.isServer }
        guard !frames.isEmpty else { return }
        let driver = try replay("python_sdk_events", connection: connection)
        let known = try frames.contains { frame in
            if case .join? = try SignalResponse(serializedBytes: frame.bytes).message { true } else { false }
        }
        // A connection that resumes a session starts without a join; it is not followed.
        guard known else { return }
        #expect(driver.events.contains(.connectionStateChanged(.connected)))
        #expect(driver.events.contains { if case .participantUpdated = $0 { true } else { false } })
    }
}
