import LiveKitProtocol
import RTCTransport

/// A track that a participant publishes. Confined to the loop.
final class PublishedTrack {
    let cid: String
    var info: TrackInfo
    let publisherSid: String
    weak var publisher: RoomMember?
    /// Where it arrives; nil before it is negotiated and after it ended.
    var source: Transceiver?
    private(set) var subscriptions: [Subscription] = []
    private var wasSubscribed = false
    private var delayLine: PacketDelayLine<RTPPacket>?

    init(cid: String, info: TrackInfo, publisher: RoomMember) {
        self.cid = cid
        self.info = info
        self.publisher = publisher
        publisherSid = publisher.sid
    }

    var sid: String { info.sid }

    func add(_ subscription: Subscription) { subscriptions.append(subscription) }

    func remove(_ subscription: Subscription) { subscriptions.removeAll { $0 === subscription } }

    /// A subscription is in force: the publisher hears of the first.
    func activated() {
        guard !wasSubscribed else { return }
        wasSubscribed = true
        var message = TrackSubscribed()
        message.trackSid = sid
        publisher?.send(.trackSubscribed(message))
    }

    /// Takes what arrives at `source`.
    func start(_ source: Transceiver, context: RoomContext) {
        self.source = source
        source.onPacket = { [weak self] packet in self?.received(packet, context: context) }
    }

    func stop() {
        source?.onPacket = nil
        source = nil
        delayLine = nil
    }

    private func received(_ packet: RTPPacket, context: RoomContext) {
        guard let source, !info.muted else { return }
        if let id = source.audio?.audioLevelExtension, let level = packet.headerExtension(id)?.first {
            publisher?.room?.speakers.observe(publisherSid, level: level & 0x7f)
        }
        let impairment = context.faults.media
        guard !impairment.isNone || delayLine != nil else { return forward(packet) }
        let line =
            delayLine
            ?? PacketDelayLine(loop: context.loop, seed: impairment.seed) { [weak self] in self?.forward($0) }
        delayLine = line
        line.send(packet, impairment: impairment, now: .now)
    }

    private func forward(_ packet: RTPPacket) {
        guard let source else { return }
        for subscription in subscriptions where subscription.isActive && !subscription.isDisabled {
            subscription.transceiver?.forward(packet, from: source)
        }
    }
}

/// A participant's subscription to a track. Confined to the loop.
final class Subscription {
    let track: PublishedTrack
    /// The section of the subscriber's connection that carries it; nil until there is one.
    var transceiver: Transceiver?
    /// Whether the section is negotiated.
    var isActive = false
    /// The subscriber does not want media for now.
    var isDisabled = false

    init(track: PublishedTrack) {
        self.track = track
    }

    /// How the subscriber's session description names the media: only the part before the bar finds the participant.
    var msid: MediaStreamID {
        MediaStreamID(stream: "\(track.publisherSid)|\(track.sid)", track: track.sid)
    }
}
