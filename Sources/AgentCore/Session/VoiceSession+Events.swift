import AudioPipeline
import LiveKitProtocol
import LoopCore
import RTCTransport

/// What happens in a session, and what it means.
extension VoiceSession {
    func handle(_ event: RoomEvent) {
        let now = MonotonicTime.now
        switch event {
        case .joined(_, let local, let others):
            stamps.joined = now
            summary.identity = local.identity
            conversation.start(ownIdentity: local.identity)
            for other in others { consider(other, now: now) }
        case .connectionStateChanged(.connected):
            guard summary.room == nil else { return }
            summary.room = room?.roomName
            emit(.connected(server: server, room: summary.room ?? "", identity: summary.identity ?? ""))
        case .participantJoined(let participant): consider(participant, now: now)
        case .participantUpdated(let participant, _): consider(participant, now: now)
        case .participantLeft(let participant, let reason):
            report(conversation.participantLeft(identity: participant.identity, now: now))
            perform(rpc.participantLeft(identity: participant.identity))
            guard participant.identity == agent?.identity else { return }
            agent = nil
            emit(.agentLeft(identity: participant.identity, reason: DisconnectCause.server(reason).description))
            perform(turnTaker.handle(.agentLeft, now: now))
        case .trackUnsubscribed(let sid): studio?.audio.speaker.remove(trackSid: sid)
        case .localTrackSubscribed:
            preConnectSubscribed(now: now)
            perform(turnTaker.handle(.microphoneSubscribed, now: now))
        case .localTrackMuted(_, let isMuted):
            studio?.audio.setMuted(isMuted)
            emit(.microphoneMuted(isMuted, by: .server))
        case .publishFailed(_, let reason):
            end(SessionError(.connection, "the microphone could not be published: \(reason)"))
        case .data(let packet):
            report(conversation.receive(packet, now: now))
            perform(rpc.receive(packet, now: now))
        case .warning(let message): emit(.warning(message))
        case .connectionLost(let cause): emit(.connectionLost(reason: cause.description))
        case .reconnected(let kind, let duration):
            summary.reconnects += 1
            emit(.reconnected(isNewSession: kind == .full, after: duration))
        case .transition(let transition): emit(.connectionStep(transition), at: transition.at)
        case .regionChanged(let server):
            self.server = server
            emit(.regionChanged(server: server))
        case .roomMoved(let moved):
            summary.room = moved.name
            emit(.roomMoved(room: moved.name))
        case .connectionQualityChanged(let updates):
            for update in updates {
                let identity = [room?.localParticipant, agent].compactMap { $0 }.first {
                    $0.sid == update.participantSid
                }?
                .identity
                if let identity { emit(.connectionQualityChanged(identity: identity, update.quality)) }
            }
        case .subscriptionFailed(let sid, let error):
            emit(.warning("the server could not subscribe to \(describe(track: sid)): \(error)"))
        case .subscriptionPermissionChanged(let sid, let isAllowed):
            guard !isAllowed else { return }
            emit(.warning("\(describe(track: sid)) may not be heard: its publisher does not allow it"))
        case .localTrackUnpublished:
            end(SessionError(.connection, "the server took the microphone out of the room"))
        case .tokenNeeded: renewToken()
        case .disconnected(let cause):
            end(cause == .clientInitiated ? nil : SessionError(cause.category, cause.description))
        case .connectionStateChanged, .trackPublished, .trackUnpublished, .trackSubscribed, .localTrackPublished,
            .activeSpeakersChanged, .roomUpdated, .streamStatesChanged, .requestAnswered:
            break
        }
    }

    private func describe(track sid: String) -> String {
        let publisher = room?.remoteParticipants.values.first { $0.tracks.contains { $0.sid == sid } }
        return publisher.map { "a track of \($0.identity)" } ?? "the track \(sid)"
    }

    /// Follows the first agent that is active in the room.
    private func consider(_ participant: Participant, now: MonotonicTime) {
        guard participant.isAgent, participant.isActive, agent == nil || agent?.identity == participant.identity else {
            return
        }
        let before = agent
        agent = participant
        if before == nil {
            summary.agent = participant.identity
            emit(.agentJoined(identity: participant.identity))
            perform(turnTaker.handle(.agentJoined, now: now))
        }
        if let state = participant.agentState, state != before?.agentState {
            emit(.agentStateChanged(state))
            perform(turnTaker.handle(.agentState(state), now: now))
        }
    }

    func handle(_ event: ClockedSource.Event) {
        switch event {
        case .speechEnded(let time): userSpeechEnded(at: time)
        case .finished(let warnings):
            for warning in warnings { warn(warning) }
            emit(.inputFinished)
            perform(turnTaker.handle(.inputFinished, now: .now))
        case .failed(let message): end(SessionError(.audio, message))
        }
    }

    func handle(_ event: SessionAudio.Event) {
        switch event {
        case .started(let time):
            if let directory = configuration.recordDirectory { emit(.recordingStarted(directory: directory), at: time) }
        case .userSpeechStarted(let time): emit(.userSpeechStarted, at: time)
        case .userSpeechEnded(let time): userSpeechEnded(at: time)
        case .agentAudible(let isAudible, let time):
            emit(isAudible ? .agentAudioStarted : .agentAudioEnded, at: time)
            if isAudible, let turn = turnClock.agentHeard(at: time) { emit(.turn(turn)) }
            perform(turnTaker.handle(.agentAudible(isAudible), now: time))
        case .outputFailed(let message):
            summary.recording = nil
            emit(.warning(message))
        case .failed(let message): end(SessionError(.audio, message))
        }
    }

    private func userSpeechEnded(at time: MonotonicTime) {
        emit(.userSpeechEnded, at: time)
        if let turn = turnClock.userSpeechEnded(at: time) { emit(.turn(turn)) }
        perform(turnTaker.handle(.userSpeechEnded(at: time), now: .now))
    }

    func report(_ transcripts: [TranscriptEvent]) {
        for var transcript in transcripts {
            if case .agent(let identity) = transcript.speaker,
                let participant = room?.remoteParticipants[identity], participant.kind != .agent
            {
                transcript.speaker = .participant(identity)
            }
            emit(.transcript(transcript))
            guard case .agent = transcript.speaker else { continue }
            if let turn = turnClock.agentRead(at: transcript.updatedAt) { emit(.turn(turn)) }
            perform(turnTaker.handle(.agentText, now: transcript.updatedAt))
        }
    }

    // MARK: Muting

    /// Whether the microphone is muted, by whomever.
    public var isMuted: Bool { studio?.audio.isMuted ?? configuration.isMuted }

    /// Mutes or unmutes the microphone: faded, and told to everybody in the room.
    public func setMuted(_ isMuted: Bool) {
        setMuted(isMuted, by: .user)
    }

    func setMuted(_ isMuted: Bool, by cause: SessionEvent.MuteCause) {
        guard let audio = studio?.audio, audio.isMuted != isMuted else { return }
        audio.setMuted(isMuted)
        emit(.microphoneMuted(isMuted, by: cause))
        guard isMuted else {
            muteSignal = nil
            track?.setMuted(false)
            return
        }
        // The fade has to be heard out before the track stops.
        muteSignal = loop.schedule(after: .milliseconds(60)) { [unowned self] in
            muteSignal = nil
            track?.setMuted(true)
        }
    }
}
