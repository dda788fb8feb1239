import LiveKitProtocol
import LoopCore

/// What arrives as data in a conversation, sorted out: transcripts, and streams of other topics. Pure.
struct ConversationReader: Sendable {
    private var streams = DataStreamReader()
    private var transcripts: TranscriptionReassembler?

    /// The session is joined: whose transcripts are the user's.
    mutating func start(ownIdentity: String) {
        transcripts = transcripts ?? TranscriptionReassembler(ownIdentity: ownIdentity)
    }

    mutating func receive(_ packet: DataPacket, now: MonotonicTime) -> [TranscriptEvent] {
        if case .transcription? = packet.value { return transcripts?.handle(packet, now: now) ?? [] }
        return pass(streams.receive(packet, now: now), now: now)
    }

    mutating func participantLeft(identity: String, now: MonotonicTime) -> [TranscriptEvent] {
        pass(streams.participantLeft(identity: identity), now: now)
    }

    mutating func tick(now: MonotonicTime) -> [TranscriptEvent] {
        pass(streams.expire(now: now), now: now) + (transcripts?.poll(now: now) ?? [])
    }

    private mutating func pass(_ events: [DataStreamReader.Event], now: MonotonicTime) -> [TranscriptEvent] {
        events.flatMap { transcripts?.handle($0, now: now) ?? [] }
    }
}
