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

    // MARK: The recording with a user, an agent and a server that acts

    private let microphone = "TR_AMm9AhPF9jtixW"
    private let agentVoice = "TR_AMxudUofNDBN2c"

    /// The client id under which a track was published in the recording.
    private func cid(_ name: String, connection: Int) throws -> String {
        for frame in try Captures.frames(name) where frame.connection == connection && !frame.isServer {
            if case .addTrack(let request)? = try SignalRequest(serializedBytes: frame.bytes).message {
                return request.cid
            }
        }
        throw CaptureError.noTrack
    }

    private enum CaptureError: Error { case noTrack }

    /// A session, and then the messages of the connection that resumed it, as if its socket had held.
    private func replayWhole(_ connections: [Int]) throws -> MachineDriver {
        var driver = try replay(
            "python_sdk_events", connection: connections[0],
            publishing: try cid("python_sdk_events", connection: connections[0]))
        for frame in try Captures.frames("python_sdk_events") where frame.connection == connections[1] && frame.isServer
        {
            let response = try SignalResponse(serializedBytes: frame.bytes)
            driver.send(.received(generation: driver.machine.generation, response))
        }
        return driver
    }

    @Test func theUserSeesTheAgentAndTheServersActs() throws {
        let driver = try replay(
            "python_sdk_events", connection: 1, publishing: try cid("python_sdk_events", connection: 1))
        #expect(driver.machine.phase == .connected)
        #expect(driver.machine.remotes["agent-1"]?.isAgent == true)
        #expect(driver.machine.remotes["agent-1"]?.agentState == .listening)
        let arrivals = driver.events.compactMap { event -> AgentState? in
            if case .participantJoined(let who) = event, who.isAgent { who.agentState } else { nil }
        }
        #expect(arrivals == [.listening], "it comes with its attributes")
        #expect(
            driver.events.contains { event in
                if case .trackSubscribed(let sid, let who) = event {
                    sid == agentVoice && who?.identity == "agent-1"
                } else {
                    false
                }
            })
        #expect(driver.events.contains(.localTrackSubscribed(trackSid: microphone)))
        #expect(driver.events.contains(.localTrackMuted(trackSid: microphone, isMuted: true)))
        #expect(driver.machine.isMuted(cid: try cid("python_sdk_events", connection: 1)))
        let metadata = driver.events.compactMap { if case .roomUpdated(let room) = $0 { room.metadata } else { nil } }
        #expect(metadata.last?.isEmpty == false)
        #expect(driver.offersSent == [2, 3])
        #expect(
            !driver.requests.contains { if case .mute = $0 { true } else { false } }, "a server's mute is not echoed")
        #expect(!driver.events.contains { if case .warning = $0 { true } else { false } })
    }

    @Test func aCutSocketIsALostSignal() throws {
        var driver = try replay("python_sdk_events", connection: 1)
        driver.send(.socketFailed(generation: driver.machine.generation, reason: "connection reset"))
        #expect(driver.cause == .signalLost(reason: "connection reset"))
        #expect(driver.cause?.category == .connection)
        #expect(driver.leaves == 0, "there is no socket to say it on")
    }

    @Test func aRemovalIsToldInWords() throws {
        let driver = try replayWhole([1, 4])
        #expect(driver.cause == .server(.participantRemoved))
        #expect(driver.cause?.description == "the server removed this participant from the room")
        #expect(driver.machine.local?.tracks.isEmpty == true, "the own state followed to the end")
    }

    @Test func theAgentSeesTheUserUnpublishAndGo() throws {
        let driver = try replayWhole([2, 3])
        let seen = driver.events.compactMap { event -> String? in
            switch event {
            case .trackSubscribed(microphone, _): "subscribed"
            case .trackUnsubscribed(microphone): "unsubscribed"
            case .trackPublished(let track, let who) where who.identity == "user": "published \(track.name)"
            case .trackUnpublished(let track, let who) where who.identity == "user": "unpublished \(track.name)"
            case .participantLeft(let who, let reason): "\(who.identity) left: \(reason)"
            default: nil
            }
        }
        #expect(
            seen == [
                "published mic", "subscribed", "unsubscribed", "unpublished mic", "user left: participantRemoved",
            ])
        #expect(driver.machine.remotes.isEmpty)
        #expect(driver.machine.subscribedTracks.isEmpty)
    }

    /// A connection that resumes starts with a `reconnect`. It is no answer to a join.
    @Test func aReconnectIsNoJoin() throws {
        var driver = try replay("python_sdk_events", connection: 3)
        #expect(driver.machine.phase == .joining)
        driver.wait(.seconds(8))
        #expect(driver.cause == .timedOut(step: "joining the room", after: .seconds(7)))
    }

    // MARK: The server ends at every point of the recordings

    @Test(arguments: [("python_sdk", 1), ("python_sdk_events", 2), ("lk_cli_dual_pc", 1)])
    func theServerMayCloseAfterAnyMessage(name: String, connection: Int) throws {
        let count = try Captures.frames(name).count { $0.connection == connection && $0.isServer }
        #expect(count > 10)
        var configuration = RoomStateMachine.Configuration()
        if name == "lk_cli_dual_pc" { configuration.path = .v0 }
        for limit in 0...count {
            var driver = try replay(name, connection: connection, configuration, until: limit)
            let isOver = driver.cause != nil
            driver.send(.socketClosed(generation: driver.machine.generation, reason: ""))
            let cause = try #require(driver.cause)
            if !isOver {
                guard case .signalLost = cause else {
                    Issue.record("after \(limit) messages: \(cause)")
                    continue
                }
            }
            #expect(driver.effects.contains(.closeSocket) && driver.effects.contains(.closeTransports))
            #expect(driver.effects.last == .event(.disconnected(cause)))
        }
    }
}
