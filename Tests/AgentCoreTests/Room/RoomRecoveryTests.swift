import Foundation
import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentCore

/// A lost connection is got back: resumed first, made anew where that cannot be.
@Suite struct RoomRecoveryTests {
    private func participant(_ sid: String, _ identity: String) -> ParticipantInfo {
        var info = ParticipantInfo()
        info.sid = sid
        info.identity = identity
        info.state = .active
        return info
    }

    /// A session with one other participant and a published track, connected.
    private func connected(reconnects: Int = 10, renewsToken: Bool = false) -> MachineDriver {
        var configuration = RoomStateMachine.Configuration()
        configuration.renewsToken = renewsToken
        configuration.seed = 7
        var driver = MachineDriver(configuration, reconnects: reconnects)
        driver.connect()
        var request = AddTrackRequest()
        request.cid = "c1"
        driver.send(.publish(request))
        join(&driver, sid: "PA_me")
        publish(&driver)
        driver.send(.transportConnected(.publisher))
        #expect(driver.machine.phase == .connected)
        return driver
    }

    private func join(_ driver: inout MachineDriver, sid: String) {
        var join = JoinResponse()
        var room = Room()
        room.name = "r"
        join.room = room
        join.participant = participant(sid, "me")
        join.otherParticipants = [participant("PA_agent", "agent")]
        driver.receive(.join(join))
    }

    private func publish(_ driver: inout MachineDriver) {
        var published = TrackPublishedResponse()
        published.cid = "c1"
        var track = TrackInfo()
        track.sid = "TR_1"
        published.track = track
        driver.receive(.trackPublished(published))
    }

    private func states(_ driver: MachineDriver) -> [RoomConnectionState] {
        driver.events.compactMap { if case .connectionStateChanged(let state) = $0 { state } else { nil } }
    }

    private func lose(_ driver: inout MachineDriver) {
        driver.send(.socketFailed(generation: driver.machine.generation, reason: "connection reset"))
    }

    private func resume(_ driver: inout MachineDriver, lastMessage: UInt32 = 0) {
        driver.wait(.milliseconds(100))
        driver.send(.socketOpened(generation: driver.machine.generation))
        var response = ReconnectResponse()
        response.lastMessageSeq = lastMessage
        driver.receive(.reconnect(response))
    }

    @Test func aLostSocketIsResumed() throws {
        var driver = connected()
        lose(&driver)
        #expect(states(driver).last == .reconnecting)
        #expect(driver.cause == nil)
        let before = driver.requests.count
        resume(&driver, lastMessage: 41)
        #expect(driver.machine.phase == .connected)
        #expect(states(driver) == [.connecting, .connected, .reconnecting, .connected])
        let socket = try #require(driver.sockets.last)
        let text = try #require(socket.url.split(separator: "?").last?.split(separator: "&").first?.dropFirst(13))
        let base64 = text.replacing("%3D", with: "=").replacing("-", with: "+").replacing("_", with: "/")
        let wrapped = try WrappedJoinRequest(
            serializedBytes: [UInt8](try #require(Data(base64Encoded: String(base64)))))
        let request = try JoinRequest(serializedBytes: wrapped.joinRequest)
        #expect(request.reconnect)
        #expect(request.participantSid == "PA_me")
        #expect(request.reconnectReason == .signalDisconnected)
        #expect(request.publisherOffer == nil)
        let state = driver.effects.compactMap { if case .sendSyncState(let state) = $0 { state } else { nil } }.last
        #expect(state?.publishTracks.map(\.cid) == ["c1"])
        #expect(state?.publishTracks.first?.track?.sid == "TR_1")
        #expect(driver.effects.contains(.replayData(after: 41)))
        // The media went on: nothing is negotiated, and the mute state is told again.
        #expect(!driver.effects.contains(.restartICE))
        #expect(driver.requests.dropFirst(before).contains { if case .mute = $0 { true } else { false } })
        let ended = driver.events.compactMap { if case .reconnected(let kind, _) = $0 { kind } else { nil } }
        #expect(ended == [.resume])
    }

    @Test func whoLeftMeanwhileIsGone() {
        var driver = connected()
        lose(&driver)
        resume(&driver)
        var update = ParticipantUpdate()
        update.participants = [participant("PA_me", "me"), participant("PA_new", "new")]
        driver.receive(.update(update))
        #expect(driver.machine.remotes.keys.sorted() == ["new"])
        // Only that first list is complete.
        update.participants = [participant("PA_x", "x")]
        driver.receive(.update(update))
        #expect(driver.machine.remotes.keys.sorted() == ["new", "x"])
    }

    @Test func lostMediaRestartsICE() {
        var driver = connected()
        driver.send(.transportFailed(.publisher, reason: "no consent"))
        #expect(states(driver).last == .reconnecting)
        resume(&driver)
        #expect(driver.machine.phase == .connectingMedia)
        #expect(driver.effects.contains(.restartICE))
        driver.send(.transportConnected(.publisher))
        #expect(driver.machine.phase == .connected)
    }

    @Test func whatTheServerForgotIsMadeAnew() {
        var driver = connected()
        lose(&driver)
        driver.wait(.milliseconds(100))
        driver.send(.socketOpened(generation: driver.machine.generation))
        var leave = LeaveRequest()
        leave.reason = .stateMismatch
        leave.action = .reconnect
        driver.receive(.leave(leave))
        driver.wait(.seconds(1))
        #expect(driver.effects.contains(.restartData))
        driver.send(.socketOpened(generation: driver.machine.generation))
        join(&driver, sid: "PA_again")
        #expect(driver.machine.local?.sid == "PA_again")
        // The track is published again, under the same id of this end.
        let tracks = driver.requests.compactMap { if case .addTrack(let request) = $0 { request.cid } else { nil } }
        #expect(tracks == ["c1", "c1"])
        driver.send(.transportConnected(.publisher))
        let ended = driver.events.compactMap { if case .reconnected(let kind, _) = $0 { kind } else { nil } }
        #expect(ended == [.full])
        // The agent was there all the time: nobody is told otherwise.
        #expect(!driver.events.contains { if case .participantLeft = $0 { true } else { false } })
        #expect(driver.events.filter { if case .joined = $0 { true } else { false } }.count == 1)
    }

    @Test(arguments: [(LeaveRequest.Action.resume, RoomStateMachine.RecoveryKind.resume), (.reconnect, .full)])
    func leavesWithAnActionAreFollowed(_ action: LeaveRequest.Action, _ kind: RoomStateMachine.RecoveryKind) {
        var driver = connected()
        var leave = LeaveRequest()
        leave.action = action
        driver.receive(.leave(leave))
        #expect(driver.machine.recovery?.kind == kind)
        var end = LeaveRequest()
        end.reason = .roomDeleted
        var other = connected()
        other.receive(.leave(end))
        #expect(other.cause == .server(.roomDeleted))
    }

    @Test func itIsGivenUpAfterSoManyAttempts() {
        var driver = connected(reconnects: 4)
        lose(&driver)
        var delays: [Duration] = []
        for _ in 0..<10 where driver.cause == nil {
            let before = driver.now
            let sockets = driver.sockets.count
            while driver.sockets.count == sockets, driver.now - before < .seconds(20) {
                driver.wait(.milliseconds(100))
            }
            delays.append(driver.now - before)
            lose(&driver)
        }
        guard case .notReconnected(let attempts, let last) = driver.cause else {
            Issue.record("\(String(describing: driver.cause))")
            return
        }
        #expect(attempts == 4)
        #expect(last.contains("connection reset"))
        #expect(delays.count == 4)
        #expect(delays[0] <= .milliseconds(100))
        #expect(zip(delays.dropFirst(), delays.dropFirst(2)).allSatisfy { $0 <= $1 })
    }

    @Test func delaysGrowToABoundAndDiffer() {
        var one = RoomStateMachine(configuration: .init())
        let delays = (0..<20).map { one.backoff(failures: $0) }
        #expect(delays[0] == .zero)
        #expect(delays[1] >= .milliseconds(150) && delays[1] <= .milliseconds(300))
        #expect(delays.allSatisfy { $0 <= .seconds(7) })
        #expect(Set(delays[10...]).count > 5)
    }

    @Test func anExpiredTokenIsRenewed() {
        var driver = connected(renewsToken: true)
        lose(&driver)
        driver.wait(.milliseconds(100))
        let generation = driver.machine.generation
        driver.send(.socketRefused(generation: generation, status: 401, body: "token is expired"))
        driver.send(.validated(generation: generation, status: 401, body: "token is expired"))
        #expect(driver.events.contains(.tokenNeeded))
        #expect(driver.cause == nil)
        driver.send(.tokenRenewed("another-token"))
        driver.wait(.milliseconds(200))
        #expect(driver.sockets.last?.token == "another-token")
        // Refused again: the source has nothing better.
        var refused = connected(renewsToken: false)
        lose(&refused)
        refused.wait(.milliseconds(100))
        refused.send(.socketRefused(generation: refused.machine.generation, status: 401, body: "no"))
        refused.send(.validated(generation: refused.machine.generation, status: 401, body: "no"))
        #expect(refused.cause?.category == .authorization)
    }

    @Test func whatIsAskedMeanwhileWaits() {
        var driver = connected()
        lose(&driver)
        let before = driver.requests.count
        driver.send(.setMuted(cid: "c1", true))
        #expect(driver.requests.count == before)
        resume(&driver)
        let mutes = driver.requests.dropFirst(before).compactMap {
            if case .mute(let mute) = $0 { mute.muted } else { nil }
        }
        #expect(mutes == [true])
    }

    @Test func leavingDuringRecoveryEndsIt() {
        var driver = connected()
        lose(&driver)
        driver.send(.leave)
        #expect(driver.cause == .clientInitiated)
        let sockets = driver.sockets.count
        driver.wait(.seconds(30))
        #expect(driver.sockets.count == sockets)
    }
}
