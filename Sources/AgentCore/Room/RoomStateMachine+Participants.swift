import LiveKitProtocol
import LoopCore

extension RoomStateMachine {
    /// Applies one participant update. Updates are deltas by identity; an older version changes nothing, and a known
    /// identity with another sid has left and come back.
    mutating func updated(_ info: ParticipantInfo) {
        if let local, info.sid == local.sid || (info.identity == local.identity && info.identity != "") {
            return updatedLocal(info, local)
        }
        let known = remotes[info.identity] ?? remotes.values.first { $0.sid == info.sid }
        if info.state == .disconnected {
            if let known, known.sid == info.sid { removed(known, reason: info.disconnectReason) }
            return
        }
        let participant = Participant(info)
        if let known, known.sid == info.sid {
            guard participant.version >= known.version else { return }
            remotes[known.identity] = nil
            remotes[participant.identity] = participant
            if participant != known {
                effects.append(.event(.participantUpdated(participant, previous: known)))
                announceTracks(of: participant, since: known.tracks)
            }
            return
        }
        if let known { removed(known, reason: .duplicateIdentity) }
        guard remotes.count < Self.maximumParticipants else {
            if !hasWarnedOfParticipants {
                hasWarnedOfParticipants = true
                effects.append(
                    .event(.warning("more than \(Self.maximumParticipants) participants; later ones are ignored")))
            }
            return
        }
        remotes[participant.identity] = participant
        effects.append(.event(.participantJoined(participant)))
        announceTracks(of: participant, since: [])
    }

    private mutating func updatedLocal(_ info: ParticipantInfo, _ known: Participant) {
        guard info.state != .disconnected else { return }
        let participant = Participant(info)
        guard participant.version >= known.version else { return }
        local = participant
        if participant != known { effects.append(.event(.participantUpdated(participant, previous: known))) }
    }

    mutating func removed(_ participant: Participant, reason: DisconnectReason) {
        remotes[participant.identity] = nil
        for track in participant.tracks {
            unsubscribe(track.sid)
            effects.append(.event(.trackUnpublished(track, by: participant)))
        }
        // Speakers are known by sid: a participant that comes back has another one.
        if speakers.removeValue(forKey: participant.sid) != nil { announceSpeakers() }
        effects.append(.event(.participantLeft(participant, reason: reason)))
    }

    private mutating func announceTracks(of participant: Participant, since before: [Participant.PublishedTrack]) {
        for track in participant.tracks where !before.contains(where: { $0.sid == track.sid }) {
            effects.append(.event(.trackPublished(track, by: participant)))
            announceSubscription(of: track.sid)
        }
        for track in before where !participant.tracks.contains(where: { $0.sid == track.sid }) {
            unsubscribe(track.sid)
            effects.append(.event(.trackUnpublished(track, by: participant)))
        }
    }

    /// The participant that publishes a track.
    func publisher(of trackSid: String) -> Participant? {
        remotes.values.first { participant in participant.tracks.contains { $0.sid == trackSid } }
    }
}
