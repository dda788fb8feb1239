public import LoopCore

extension SessionEvent {
    /// The version of the JSON form; it grows when a member changes its meaning or goes away.
    public static let schemaVersion = 1

    /// The event as one line of JSON (NDJSON): `type`, `t` (seconds since `start`) and the members of its type.
    /// Durations are in milliseconds and say so in their names. The `started` event carries `schema`.
    public func json(since start: MonotonicTime) -> JSONValue {
        let seconds = ((time - start).inSeconds * 1e6).rounded() / 1e6
        return .object([("type", .string(typeName)), ("t", .number(seconds))] + members)
    }

    private var typeName: String {
        switch kind {
        case .started: "started"
        case .tokenReceived: "token"
        case .connected: "connected"
        case .agentJoined: "agent_joined"
        case .agentLeft: "agent_left"
        case .agentStateChanged: "agent_state"
        case .inputStarted: "input_started"
        case .userSpeechEnded: "user_speech_ended"
        case .inputFinished: "input_finished"
        case .agentAudioStarted: "agent_audio_started"
        case .agentAudioEnded: "agent_audio_ended"
        case .transcript: "transcript"
        case .turn: "turn"
        case .warning: "warning"
        case .ended: "ended"
        }
    }

    private var members: [(String, JSONValue)] {
        switch kind {
        case .started:
            return [("schema", .integer(Int64(Self.schemaVersion)))]
        case .tokenReceived(let server, let room, let identity):
            return [("server", .string(server)), ("room", .optional(room)), ("identity", .optional(identity))]
        case .connected(let server, let room, let identity):
            return [("server", .string(server)), ("room", .string(room)), ("identity", .string(identity))]
        case .agentJoined(let identity):
            return [("identity", .string(identity))]
        case .agentLeft(let identity, let reason):
            return [("identity", .string(identity)), ("reason", .string(reason))]
        case .agentStateChanged(let state):
            return [("state", .string(state.description))]
        case .inputStarted, .userSpeechEnded, .inputFinished, .agentAudioStarted, .agentAudioEnded:
            return []
        case .transcript(let event):
            return event.jsonMembers
        case .turn(let latency):
            return latency.jsonMembers
        case .warning(let message):
            return [("message", .string(message))]
        case .ended(let summary, let error):
            let failure: JSONValue =
                error.map {
                    .object([("message", .string($0.description)), ("exit_code", .integer(Int64($0.exitCode)))])
                } ?? .null
            return [("exit_code", .integer(Int64(error?.exitCode ?? 0))), ("error", failure)] + summary.jsonMembers
        }
    }
}

extension TurnLatency {
    fileprivate var jsonMembers: [(String, JSONValue)] {
        [("first_audio_ms", .milliseconds(firstAudio)), ("first_text_ms", .milliseconds(firstText))]
    }
}

extension AudioTraffic {
    fileprivate var json: JSONValue {
        .object([
            ("packets", .integer(Int64(clamping: packets))), ("bytes", .integer(Int64(clamping: bytes))),
            ("lost", .integer(lost)), ("loss_ratio", .number(lossRatio)),
            ("jitter_ms", .number(jitterMilliseconds)), ("audio_seconds", .number(audioSeconds)),
            ("concealed_seconds", .number(concealedSeconds)),
        ])
    }
}

extension SessionSummary {
    fileprivate var jsonMembers: [(String, JSONValue)] {
        [
            ("room", .optional(room)), ("identity", .optional(identity)), ("agent", .optional(agent)),
            (
                "connect",
                .object([
                    ("token_ms", .milliseconds(connect.token)), ("signaling_ms", .milliseconds(connect.signaling)),
                    ("ice_ms", .milliseconds(connect.ice)), ("dtls_ms", .milliseconds(connect.dtls)),
                    ("first_packet_ms", .milliseconds(connect.firstPacket)),
                    ("total_ms", .milliseconds(connect.total)),
                ])
            ),
            ("turns", .array(turns.map { .object($0.jsonMembers) })),
            ("sent", sent.json), ("received", received.json),
            ("rtt_ms", roundTripMilliseconds.map(JSONValue.number) ?? .null),
            ("duration_ms", .milliseconds(duration)), ("recording", .optional(recording)),
        ]
    }
}
