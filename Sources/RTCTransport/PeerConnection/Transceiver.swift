public import LoopCore

/// One Opus frame that arrived, out of a plain or a RED packet.
public struct ReceivedFrame: Sendable, Equatable {
    public var payload: [UInt8]
    /// 48 kHz.
    public var timestamp: UInt32
    /// Of the packet; redundant frames carry that of the packet they came in.
    public var sequenceNumber: UInt16
    /// Whether the frame is an earlier one that RED repeats.
    public var isRedundant: Bool
    public var marker: Bool
    public var arrival: MonotonicTime
    public var ssrc: UInt32
    /// RFC 6464: -dBov, 0 (loudest) to 127 (silence).
    public var audioLevel: UInt8?
}

/// A media section of a ``PeerConnection`` with what is sent and received in it (`RTCRtpTransceiver` of WebRTC).
/// Confined to the loop.
public final class Transceiver {
    public let kind: MediaKind
    /// Opus frames, RED already taken apart, in the order of arrival.
    public var onFrame: ((ReceivedFrame) -> Void)?
    /// Packets as they are, for an SFU.
    public var onPacket: ((RTPPacket) -> Void)?
    /// Whether to send redundant audio where it was agreed.
    public var redEnabled = true

    let index: Int
    weak var connection: PeerConnection?
    var send: SendStream
    var receive: ReceiveStream?
    private var redundancy = RedundancyEncoder()
    private var forwarder = StreamForwarder()

    init(kind: MediaKind, index: Int, ssrc: UInt32, connection: PeerConnection) {
        self.kind = kind
        self.index = index
        self.connection = connection
        send = SendStream(ssrc: ssrc)
    }

    private var section: Negotiator.Section? { connection?.negotiator.sections[index] }

    /// The section's identification tag.
    public var mid: String? { section?.mid }
    /// What this end wants; it counts from the next offer or answer.
    public var direction: MediaDirection {
        get { section?.direction ?? .inactive }
        set { connection?.negotiator.setDirection(newValue, at: index) }
    }
    /// What was last agreed, seen from this end; nil before the first negotiation.
    public var currentDirection: MediaDirection? { section?.currentDirection }
    /// What this end says its media is.
    public var msid: MediaStreamID? {
        get { section?.msid }
        set { connection?.negotiator.setMsid(newValue, at: index) }
    }
    /// What the peer says its media is.
    public var remoteMsid: MediaStreamID? { section?.remoteMsid }
    /// What was agreed for audio; nil before that, and for video.
    public var audio: NegotiatedAudio? { section?.agreed }
    /// The source that this end sends with.
    public var ssrc: UInt32 { send.ssrc }

    public var senderStatistics: SenderStatistics { send.statistics }
    public var receiverStatistics: ReceiverStatistics { receive?.statistics ?? ReceiverStatistics() }

    /// Sends one Opus frame.
    /// - Parameters:
    ///   - timestamp: of its first sample, 48 kHz.
    ///   - marker: whether it starts a talk spurt (RFC 7587 section 4.1).
    ///   - audioLevel: RFC 6464, -dBov from 0 to 127; sent where the extension was agreed.
    /// - Returns: whether it went out: the connection is up and the section sends.
    @discardableResult
    public func send(opus payload: [UInt8], timestamp: UInt32, marker: Bool, audioLevel: UInt8?) -> Bool {
        guard let connection, connection.isMediaReady, currentDirection?.sends == true, let audio else { return false }
        var body = payload
        var type = audio.opusPayloadType
        if redEnabled, let red = audio.redPayloadType {
            body = redundancy.encode(payload, timestamp: timestamp, payloadType: audio.opusPayloadType)
            type = red
        }
        let packet = send.makePacket(
            payloadType: type, timestamp: timestamp, marker: marker,
            extensions: extensions(audio, level: audioLevel), payload: body, now: .now)
        return connection.send(packet)
    }

    /// Forwards a packet that `source` received: the payload as it is, under this section's numbers. RED is taken
    /// apart where this section has none.
    @discardableResult
    public func forward(_ packet: RTPPacket, from source: Transceiver) -> Bool {
        guard let connection, connection.isMediaReady, currentDirection?.sends == true, let audio,
            let sourceAudio = source.audio
        else { return false }
        var payload = packet.payload
        var type = audio.opusPayloadType
        if packet.payloadType == sourceAudio.redPayloadType {
            guard var red = try? RedundantAudio(parsing: payload) else { return false }
            if let redType = audio.redPayloadType, redEnabled {
                for index in red.blocks.indices { red.blocks[index].payloadType = audio.opusPayloadType }
                red.payloadType = audio.opusPayloadType
                payload = red.serialized()
                type = redType
            } else {
                payload = red.payload
            }
        } else if packet.payloadType != sourceAudio.opusPayloadType {
            return false
        }
        let level = sourceAudio.audioLevelExtension.flatMap { packet.headerExtension($0)?.first }
        let (sequenceNumber, timestamp) = forwarder.renumber(packet)
        var out = RTPPacket(
            payloadType: type, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: send.ssrc, payload: payload)
        out.marker = packet.marker
        out.extensions = extensions(audio, level: level)
        send.note(out, now: .now)
        return connection.send(out)
    }

    private func extensions(_ audio: NegotiatedAudio, level: UInt8?) -> [RTPPacket.HeaderExtension] {
        var result: [RTPPacket.HeaderExtension] = []
        if let id = audio.audioLevelExtension, let level { result.append(.init(id: id, data: [level])) }
        if let id = audio.midExtension, let mid { result.append(.init(id: id, data: Array(mid.utf8.prefix(16)))) }
        if let id = audio.transportSequenceExtension, let number = connection?.takeTransportSequence() {
            result.append(.init(id: id, data: [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]))
        }
        return result
    }

    /// Hands a packet of this section on, its frames one by one.
    func deliver(_ packet: RTPPacket, now: MonotonicTime) {
        onPacket?(packet)
        guard let onFrame, let audio else { return }
        let level = audio.audioLevelExtension.flatMap { packet.headerExtension($0)?.first }.map { $0 & 0x7f }
        func frame(_ payload: [UInt8], _ timestamp: UInt32, redundant: Bool) -> ReceivedFrame {
            ReceivedFrame(
                payload: payload, timestamp: timestamp, sequenceNumber: packet.sequenceNumber, isRedundant: redundant,
                marker: packet.marker && !redundant, arrival: now, ssrc: packet.ssrc, audioLevel: level)
        }
        if packet.payloadType == audio.redPayloadType {
            guard let red = try? RedundantAudio(parsing: packet.payload) else { return }
            for block in red.blocks where block.payloadType == audio.opusPayloadType && !block.payload.isEmpty {
                onFrame(frame(block.payload, packet.timestamp &- UInt32(block.timestampOffset), redundant: true))
            }
            if red.payloadType == audio.opusPayloadType, !red.payload.isEmpty {
                onFrame(frame(red.payload, packet.timestamp, redundant: false))
            }
        } else if packet.payloadType == audio.opusPayloadType, !packet.payload.isEmpty {
            onFrame(frame(packet.payload, packet.timestamp, redundant: false))
        }
    }
}
