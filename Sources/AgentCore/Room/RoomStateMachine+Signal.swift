import LiveKitProtocol
import LoopCore

extension RoomStateMachine {
    /// Acts on one message of the server. Messages are handled in the order in which they came; those that do not
    /// concern an audio client, and those that are not known, change nothing.
    mutating func handle(_ response: SignalResponse, now: MonotonicTime) {
        guard let message = response.message, isSocketOpen else { return }
        if phase == .joining {
            switch message {
            case .join(let join): return joined(join, now: now)
            case .reconnect(let response): return resumed(response, now: now)
            case .leave(let leave): return left(leave, now: now)
            default: return
            }
        }
        switch message {
        case .join(let join): joined(join, now: now)
        case .answer(let answer): answered(answer, now: now)
        case .offer(let offer): offered(offer)
        case .trickle(let trickle): effects.append(.addCandidate(trickle.target, json: trickle.candidateInit))
        case .update(let update):
            for info in update.participants { updated(info) }
            reconcile(update.participants)
        case .trackPublished(let published): trackPublished(published, now: now)
        case .trackUnpublished(let unpublished): trackUnpublished(sid: unpublished.trackSid)
        case .leave(let leave): left(leave, now: now)
        case .mute(let mute): muted(mute)
        case .speakersChanged(let change): speakersChanged(change.speakers)
        case .roomUpdate(let update):
            guard let room = update.room else { return }
            self.room = room
            effects.append(.event(.roomUpdated(room)))
        case .connectionQuality(let update): effects.append(.event(.connectionQualityChanged(update.updates)))
        case .streamStateUpdate(let update): effects.append(.event(.streamStatesChanged(update.streamStates)))
        case .subscriptionPermissionUpdate(let update):
            effects.append(
                .event(.subscriptionPermissionChanged(trackSid: update.trackSid, isAllowed: update.allowed)))
        case .subscriptionResponse(let answer):
            effects.append(.event(.subscriptionFailed(trackSid: answer.trackSid, error: answer.err)))
        case .refreshToken(let token): self.token = token
        case .pong, .reconnect: break
        case .pongResp(let pong):
            let sent = pong.lastPingTimestamp
            let elapsed = (now.nanoseconds / 1_000_000).subtractingReportingOverflow(sent)
            if !elapsed.overflow, (0...60_000).contains(elapsed.partialValue) {
                roundTripMilliseconds = elapsed.partialValue
            }
        case .requestResponse(let answer): answered(answer)
        case .trackSubscribed(let subscribed): trackSubscribed(sid: subscribed.trackSid)
        case .roomMoved(let move): moved(move)
        case .mediaSectionsRequirement(let requirement):
            // Zero means that the spare sections suffice; a new offer is wanted all the same. Video is not received.
            addReceivers(Int(min(requirement.numAudios, UInt32(Self.maximumReceivers))))
            requestOffer(now: now)
        case .subscribedQualityUpdate, .subscribedAudioCodecUpdate, .publishDataTrackResponse,
            .unpublishDataTrackResponse, .dataTrackSubscriberHandles, .storeDataBlobResponse, .getDataBlobResponse:
            break
        }
    }

    // MARK: Speakers

    /// Applies a change of who speaks: it names those who started, changed or stopped.
    private mutating func speakersChanged(_ changes: [SpeakerInfo]) {
        for change in changes {
            speakers[change.sid] = nil
            if change.active, speakers.count < Self.maximumSpeakers { speakers[change.sid] = change }
        }
        announceSpeakers()
    }

    func speakersByLevel() -> [SpeakerInfo] {
        speakers.values.sorted { ($0.level, $1.sid) > ($1.level, $0.sid) }
    }

    mutating func announceSpeakers() {
        effects.append(.event(.activeSpeakersChanged(speakersByLevel())))
    }

    // MARK: Leaving and moving

    private mutating func left(_ leave: LeaveRequest, now: MonotonicTime) {
        // Servers that do not know `action` yet say it with `can_reconnect`.
        guard leave.action != .disconnect || leave.canReconnect else {
            return end(.server(leave.reason), now: now)
        }
        replaceRegions(leave.regions)
        // While one attempt is under way, a leave means that there is nothing to resume.
        let isResume = leave.action == .resume && phase != .joining
        fail(.serverAskedToReconnect(leave.reason), as: isResume ? .resume : .full, now: now)
    }

    private mutating func moved(_ move: RoomMovedResponse) {
        if !move.token.isEmpty { token = move.token }
        if let room = move.room {
            self.room = room
            effects.append(.event(.roomMoved(room)))
        }
        if let info = move.participant {
            let moved = Participant(info)
            let previous = local
            local = moved
            if let previous, previous != moved {
                effects.append(.event(.participantUpdated(moved, previous: previous)))
            }
        }
        for participant in remotes.values.sorted(by: { $0.identity < $1.identity }) {
            removed(participant, reason: .migration)
        }
        for info in move.otherParticipants { updated(info) }
    }
}
