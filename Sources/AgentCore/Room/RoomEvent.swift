public import LiveKitProtocol

/// Where a room connection stands.
public enum RoomConnectionState: String, Sendable {
    case disconnected, connecting, connected
    /// The connection was lost, and is being got back.
    case reconnecting
}

/// Something that happened in a room, in the order in which it happened.
public enum RoomEvent: Sendable, Equatable {
    case connectionStateChanged(RoomConnectionState)
    /// The server let this participant in; media follows.
    case joined(room: String, local: Participant, others: [Participant])
    case participantJoined(Participant)
    /// State, name, metadata, attributes, permissions or tracks changed; also of the local participant.
    case participantUpdated(Participant, previous: Participant)
    case participantLeft(Participant, reason: DisconnectReason)
    case trackPublished(Participant.PublishedTrack, by: Participant)
    case trackUnpublished(Participant.PublishedTrack, by: Participant)
    /// Audio of the track arrives; told once its publisher is known, so that frames may come before.
    case trackSubscribed(trackSid: String, participant: Participant?)
    case trackUnsubscribed(trackSid: String)
    case localTrackPublished(cid: String, track: TrackInfo)
    /// Somebody subscribed to a track of ours for the first time.
    case localTrackSubscribed(trackSid: String)
    /// The server muted or unmuted a track of ours.
    case localTrackMuted(trackSid: String, isMuted: Bool)
    /// The server took a track of ours out of the room; nothing of it is sent any more.
    case localTrackUnpublished(trackSid: String)
    case publishFailed(cid: String, reason: String)
    case data(DataPacket)
    /// Who speaks now, the loudest first; this participant may be among them.
    case activeSpeakersChanged([SpeakerInfo])
    case connectionQualityChanged([ConnectionQualityInfo])
    case roomUpdated(LiveKitProtocol.Room)
    case subscriptionPermissionChanged(trackSid: String, isAllowed: Bool)
    case subscriptionFailed(trackSid: String, error: SubscriptionError)
    case streamStatesChanged([StreamStateInfo])
    /// An answer to a request such as ``Room/updateAttributes(_:completion:)``.
    case requestAnswered(RequestResponse)
    case warning(String)
    /// Why the connection was lost; attempts to get it back follow.
    case connectionLost(DisconnectCause)
    /// It is back.
    case reconnected(RoomStateMachine.RecoveryKind, after: Duration)
    /// The server does not take the token any more: ``Room/renew(token:)`` is to follow, within 15 s.
    case tokenNeeded
    /// The server cannot be reached; another region of its service is tried.
    case regionChanged(server: String)
    /// The server moved this participant to another room of that name; others were told as left, those there as joined.
    case roomMoved(LiveKitProtocol.Room)
    /// The connection took a step; ``RoomStateMachine/Step`` lists them.
    case transition(RoomStateMachine.Transition)
    /// The last event of a connection.
    case disconnected(DisconnectCause)
}
