import Foundation
import LiveKitProtocol
import LoopCore
import RTCTransport
import WebIO

/// A room: who is in it, and what they hear of each other. Confined to the loop.
final class SandboxRoom {
    let context: RoomContext
    let name: String
    private(set) var info = LiveKitProtocol.Room()
    private(set) var members: [RoomMember] = []
    var speakers = ActiveSpeakers()
    private var speakerTimer: LoopTimer?
    private var qualityTimer: LoopTimer?
    private var infoTimer: LoopTimer?
    private var departureTimer: LoopTimer?
    private var delayedJoins: [ObjectIdentifier: LoopTimer] = [:]

    init(name: String, context: RoomContext) {
        self.name = name
        self.context = context
        let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
        info.sid = ServerIdentity.makeID("RM_")
        info.name = name
        info.emptyTimeout = 300
        info.departureTimeout = UInt32(clamping: context.configuration.departureTimeout.components.seconds)
        info.creationTime = milliseconds / 1000
        info.creationTimeMs = milliseconds
        info.enabledCodecs = ServerIdentity.codecs
        speakerTimer = context.loop.schedule(
            every: ActiveSpeakers.interval, startingAt: .now + ActiveSpeakers.interval
        ) { [weak self] in self?.updateSpeakers() }
        qualityTimer = context.loop.schedule(every: .seconds(5), startingAt: .now + .seconds(5)) { [weak self] in
            self?.sendQuality()
        }
    }

    func member(_ identity: String) -> RoomMember? { members.first { $0.identity == identity } }

    func track(_ sid: String) -> PublishedTrack? { members.lazy.flatMap(\.tracks).first { $0.sid == sid } }

    // MARK: Joining

    /// Lets a participant in. One that is there under the same identity has to go.
    func join(_ parameters: JoinParameters, grants: JoinGrants, socket: WebSocket) {
        let earlier = self.member(grants.identity)
        let member: RoomMember
        do {
            member = try RoomMember(parameters, grants: grants, room: self)
        } catch {
            context.log("\(grants.identity): cannot join: \(error)")
            return socket.close(code: 1011, reason: "")
        }
        members.append(member)
        departureTimer = nil
        if let earlier { expel(earlier, reason: .duplicateIdentity) }
        member.attach(socket)
        member.startTimers()
        let delay = context.faults.joinDelay
        guard delay > .zero else { return admit(member, parameters) }
        delayedJoins[ObjectIdentifier(member)] = context.loop.schedule(after: delay) { [weak self, weak member] in
            guard let self, let member, !member.isClosed else { return }
            self.delayedJoins[ObjectIdentifier(member)] = nil
            self.admit(member, parameters)
        }
    }

    private func admit(_ member: RoomMember, _ parameters: JoinParameters) {
        if context.faults.sendsMalformedFrame { member.send(raw: [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00]) }
        // Field 1000, length-delimited: a member of the oneof that nobody knows.
        if context.faults.sendsUnknownMessage { member.send(raw: [0xc2, 0x3e, 0x02, 0x08, 0x01]) }
        if closes(member, at: .beforeJoin) { return }
        member.hasJoined = true
        member.send(.join(joinResponse(for: member)))
        if closes(member, at: .afterJoin) { return }
        member.sendToken()
        context.log("\(name): \(member.identity) joined as \(member.sid)")
        for request in parameters.addTracks { member.addTrack(request) }
        if member.autoSubscribe { member.subscribe(to: members.filter { $0 !== member }.flatMap(\.tracks)) }
        if let offer = parameters.publisherOffer { member.answer(offer) }
        guard !member.isClosed else { return }
        if member.subscriber != nil {
            member.openDownstream()
            member.offerSubscriber()
        }
        let speaking = speakers.current
        if !speaking.isEmpty { send(speaking, to: [member]) }
        scheduleInfo()
        context.onJoined?(self, member)
    }

    private func joinResponse(for member: RoomMember) -> JoinResponse {
        var join = JoinResponse()
        join.room = info
        join.participant = member.info
        join.otherParticipants = members.filter { $0 !== member && $0.hasJoined && !$0.grants.hidden }.map(\.info)
        join.serverVersion = ServerIdentity.version
        join.serverInfo = ServerIdentity.info
        join.subscriberPrimary = member.subscriber != nil
        join.pingInterval = Int32(clamping: context.configuration.pingInterval)
        join.pingTimeout = Int32(clamping: context.configuration.pingTimeout)
        join.enabledPublishCodecs = ServerIdentity.codecs
        join.fastPublish = member.grants.canPublish
        return join
    }

    /// Closes the connection where a fault says so.
    func closes(_ member: RoomMember, at step: SandboxFaults.JoinStep) -> Bool {
        guard context.faults.closesAt == step else { return false }
        context.log("\(member.identity): fault: closing \(step.rawValue)")
        member.dropSignal(abruptly: context.faults.closesAbruptly)
        if !member.isClosed { remove(member, reason: .signalClose) }
        return true
    }

    /// Continues the session of a participant whose signal connection was lost.
    func resume(_ member: RoomMember, _ parameters: JoinParameters, socket: WebSocket) {
        context.log("\(name): \(member.identity) resumes")
        member.attach(socket)
        var reconnect = ReconnectResponse()
        reconnect.serverInfo = ServerIdentity.info
        reconnect.lastMessageSeq = member.sequence.last
        member.send(.reconnect(reconnect))
        // All of them: the client takes those that are missing for gone.
        var update = ParticipantUpdate()
        update.participants = members.filter { $0.hasJoined && ($0 === member || !$0.grants.hidden) }.map(\.info)
        member.send(.update(update))
        sendInfo(to: [member])
        member.sendToken()
        if let state = parameters.syncState { member.handle(.syncState(state)) }
        if let offer = parameters.publisherOffer { member.answer(offer) }
        if member.subscriber != nil {
            member.offer.isOutstanding = false
            member.offer.timer = nil
            member.offerSubscriber(iceRestart: true)
        }
    }

    // MARK: Leaving

    /// The client said goodbye.
    func left(_ member: RoomMember) {
        var leave = LeaveRequest()
        leave.reason = .clientInitiated
        remove(member, reason: .clientInitiated, leave: leave)
    }

    /// Sends a participant away.
    func expel(_ member: RoomMember, reason: DisconnectReason, action: LeaveRequest.Action = .disconnect) {
        var leave = LeaveRequest()
        leave.reason = reason
        leave.action = action
        leave.canReconnect = action != .disconnect
        remove(member, reason: reason, leave: leave)
    }

    func remove(_ member: RoomMember, reason: DisconnectReason, leave: LeaveRequest? = nil) {
        guard let index = members.firstIndex(where: { $0 === member }) else { return }
        members.remove(at: index)
        delayedJoins[ObjectIdentifier(member)] = nil
        let tracks = member.tracks
        member.close(leave, reason: reason)
        speakers.remove(member.sid)
        context.log("\(name): \(member.identity) left: \(reason.protoName)")
        if member.hasJoined { broadcast(member) }
        for other in members { other.unsubscribe(from: tracks) }
        if members.isEmpty { return close() }
        scheduleInfo()
        guard members.allSatisfy({ $0.info.kind == .agent }) else { return }
        // Agents alone do not keep a room open.
        departureTimer = context.loop.schedule(after: context.configuration.departureTimeout) { [weak self] in
            self?.delete(reason: .roomClosed)
        }
    }

    /// Ends the room for everybody.
    func delete(reason: DisconnectReason) {
        for member in members { expel(member, reason: reason) }
        close()
    }

    private func close() {
        guard speakerTimer != nil else { return }
        speakerTimer = nil
        qualityTimer = nil
        infoTimer = nil
        departureTimer = nil
        context.onEmpty?(self)
    }

    // MARK: Telling the others

    /// Tells everybody what a participant is like now; only itself when it is hidden.
    func broadcast(_ member: RoomMember) {
        var update = ParticipantUpdate()
        update.participants = [member.info]
        let receivers = members.filter { $0.hasJoined && ($0 === member || !member.grants.hidden) }
        for receiver in receivers { receiver.send(.update(update)) }
    }

    func becameActive(_ member: RoomMember) {
        broadcast(member)
    }

    /// The participant is told of before its track is offered.
    func published(_ tracks: [PublishedTrack], by publisher: RoomMember) {
        broadcast(publisher)
        for member in members where member !== publisher && member.hasJoined && member.autoSubscribe {
            member.subscribe(to: tracks)
        }
        scheduleInfo()
    }

    func unpublished(_ track: PublishedTrack, by publisher: RoomMember) {
        broadcast(publisher)
        for member in members where member !== publisher { member.unsubscribe(from: [track]) }
        scheduleInfo()
    }

    /// Changes the room's metadata.
    func setMetadata(_ metadata: String) {
        info.metadata = metadata
        sendInfo(to: members)
    }

    private func scheduleInfo() {
        guard infoTimer?.isActive != true else { return }
        infoTimer = context.loop.schedule(after: .seconds(1)) { [weak self] in
            guard let self else { return }
            self.sendInfo(to: self.members)
        }
    }

    private func sendInfo(to receivers: [RoomMember]) {
        info.numParticipants = UInt32(clamping: members.count { $0.hasJoined && !$0.grants.hidden })
        info.numPublishers = UInt32(clamping: members.count { !$0.tracks.isEmpty })
        var update = RoomUpdate()
        update.room = info
        for receiver in receivers where receiver.hasJoined { receiver.send(.roomUpdate(update)) }
    }

    private func updateSpeakers() {
        let changes = speakers.update()
        if !changes.isEmpty { send(changes, to: members) }
    }

    private func send(_ changes: [SpeakerInfo], to receivers: [RoomMember]) {
        var message = SpeakersChanged()
        message.speakers = changes
        for receiver in receivers where receiver.hasJoined { receiver.send(.speakersChanged(message)) }
    }

    private func sendQuality() {
        var message = ConnectionQualityUpdate()
        message.updates = members.filter(\.isActive).map { $0.measureQuality() }
        guard !message.updates.isEmpty else { return }
        for receiver in members where receiver.isActive { receiver.send(.connectionQuality(message)) }
    }

    // MARK: Data

    /// Passes a data packet on to those that it is for.
    func route(_ bytes: [UInt8], from sender: RoomMember, reliable: Bool) {
        guard sender.grants.canPublishData, let packet = try? DataPacket(serializedBytes: bytes), packet.value != nil
        else {
            return context.log("\(sender.identity): a data packet of \(bytes.count) bytes was not passed on")
        }
        guard !reliable || sender.sequence.accepts(packet.sequence) else { return }
        let origin = DataRouting.Sender(
            identity: sender.identity, sid: sender.sid, isAgent: sender.info.kind == .agent)
        let forwarded = DataRouting.forwarded(packet, from: origin, reliable: reliable)
        let encoded = forwarded.serializedBytes()
        for member in members
        where member !== sender && member.isActive
            && DataRouting.isAddressed(packet, to: member.identity, sid: member.sid)
        {
            member.deliver(encoded, reliable: reliable, senderSid: sender.sid, sequence: packet.sequence)
        }
    }
}

extension RoomContext {
    /// Now, as versions of tracks are written.
    var timedVersion: TimedVersion {
        var version = TimedVersion()
        version.unixMicro = Int64(Date().timeIntervalSince1970 * 1_000_000)
        return version
    }
}

extension SandboxRoom {
    /// The message for a client that wants to resume a session that is gone.
    static var stateMismatch: [UInt8] {
        var leave = LeaveRequest()
        leave.reason = .stateMismatch
        leave.action = .reconnect
        leave.canReconnect = true
        var response = SignalResponse()
        response.message = .leave(leave)
        return response.serializedBytes()
    }
}
