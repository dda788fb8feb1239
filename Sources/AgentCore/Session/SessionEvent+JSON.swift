public import LiveKitProtocol
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
        case .connectionLost: "connection_lost"
        case .reconnected: "reconnected"
        case .connectionStep: "connection_step"
        case .regionChanged: "region_changed"
        case .roomMoved: "room_moved"
        case .connectionQualityChanged: "connection_quality"
        case .recordingStarted: "recording_started"
        case .preConnectAudioSent: "pre_connect_audio"
        case .microphoneMuted: "microphone_muted"
        case .inputStarted: "input_started"
        case .userSpeechStarted: "user_speech_started"
        case .userSpeechEnded: "user_speech_ended"
        case .inputFinished: "input_finished"
        case .agentAudioStarted: "agent_audio_started"
        case .agentAudioEnded: "agent_audio_ended"
        case .transcript: "transcript"
        case .toolCalled: "tool_called"
        case .toolAnswered: "tool_answered"
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
        case .connectionLost(let reason):
            return [("reason", .string(reason))]
        case .reconnected(let isNewSession, let duration):
            return [("new_session", .bool(isNewSession)), ("after_ms", .milliseconds(duration))]
        case .connectionStep(let step):
            return [
                ("from", .string(step.from.rawValue)), ("to", .string(step.to.rawValue)),
                ("because", .string(step.step.rawValue)), ("cause", .optional(step.cause?.description)),
            ]
        case .regionChanged(let server):
            return [("server", .string(server))]
        case .roomMoved(let room):
            return [("room", .string(room))]
        case .connectionQualityChanged(let identity, let quality):
            return [("identity", .string(identity)), ("quality", .string(quality.name))]
        case .recordingStarted(let directory):
            return [("directory", .string(directory))]
        case .preConnectAudioSent(let frames, let dropped):
            return [("audio_ms", .number(Double(frames) / 48)), ("dropped_ms", .number(Double(dropped) / 48))]
        case .microphoneMuted(let isMuted, let cause):
            return [("muted", .bool(isMuted)), ("by", .string(cause.rawValue))]
        case .inputStarted, .userSpeechStarted, .userSpeechEnded, .inputFinished, .agentAudioStarted, .agentAudioEnded:
            return []
        case .transcript(let event):
            return event.jsonMembers
        case .toolCalled(let call):
            return call.jsonMembers + [("parameters", JSONValue(json: call.parameters) ?? .string(call.parameters))]
        case .toolAnswered(let answer):
            let duration = ("duration_ms", JSONValue.milliseconds(answer.duration))
            switch answer.result {
            case .success(let text):
                return answer.call.jsonMembers + [("result", JSONValue(json: text) ?? .string(text)), duration]
            case .failure(let error):
                let failure = JSONValue.object([
                    ("code", .integer(Int64(error.code))), ("message", .string(error.message)),
                ])
                return answer.call.jsonMembers + [("error", failure), duration]
            }
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

extension ConnectionQuality {
    /// The quality in a word.
    public var name: String {
        switch self {
        case .poor: "poor"
        case .good: "good"
        case .excellent: "excellent"
        case .lost: "lost"
        case .unrecognized: "unknown"
        }
    }
}

extension ToolCall {
    fileprivate var jsonMembers: [(String, JSONValue)] {
        [("tool", .string(tool)), ("id", .string(id)), ("caller", .string(caller))]
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
            ("stretched_seconds", .number(stretchedSeconds)), ("recovered_fec", .integer(Int64(recoveredByFEC))),
            ("recovered_red", .integer(Int64(recoveredByRED))),
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
            ("duration_ms", .milliseconds(duration)), ("reconnects", .integer(Int64(reconnects))),
            ("recording", .optional(recording)),
            ("microphone", microphone?.json ?? .null), ("speaker", speaker?.json ?? .null),
            ("echo_return_loss_enhancement_db", echoReturnLossEnhancement.map { .integer(Int64($0)) } ?? .null),
        ]
    }
}

extension DeviceSummary {
    fileprivate var json: JSONValue {
        .object([
            ("name", .string(name)), ("rate", .integer(Int64(rate))), ("channels", .integer(Int64(channels))),
            ("format", .string(format)), ("xruns", .integer(Int64(xruns))), ("suspends", .integer(Int64(suspends))),
            ("reconnects", .integer(Int64(reconnects))), ("silent_ms", .number(silentMilliseconds)),
            ("dropped_ms", .number(droppedMilliseconds)), ("drift_ppm", driftPPM.map(JSONValue.number) ?? .null),
            ("scheduling", .string(scheduling)),
        ])
    }
}
