import AgentCore
import Foundation
import LoopCore

/// Shows the events of a session as they come: to people, or as NDJSON.
final class SessionRenderer {
    enum Mode {
        case people(LiveTranscript.Style)
        case json
    }

    enum Verbosity: Int { case quiet, normal, verbose }

    private let mode: Mode
    private let verbosity: Verbosity
    private let output: Output
    private var transcript: LiveTranscript
    private var start: MonotonicTime?

    init(mode: Mode, verbosity: Verbosity, output: Output = .shared) {
        self.mode = mode
        self.verbosity = verbosity
        self.output = output
        if case .people(let style) = mode {
            transcript = LiveTranscript(style: style)
        } else {
            transcript = LiveTranscript(style: .init(isLive: false, usesColor: false, columns: 80, rows: 24))
        }
    }

    func show(_ event: SessionEvent) {
        let start = start ?? event.time
        self.start = start
        if case .json = mode {
            output.writeLine(event.json(since: start).line)
            return
        }
        switch event.kind {
        case .transcript(let update): write(transcript.update(update))
        case .warning(let message): note("agentctl: \(message)", at: .normal)
        case .connected(let server, let room, _):
            let elapsed = Int((event.time - start).milliseconds.rounded())
            note("Connected to \(server), room \(room), in \(elapsed) ms.", at: .normal)
        case .agentJoined(let identity): note("The agent \(identity) is here.", at: .normal)
        case .agentLeft(let identity, let reason): note("The agent \(identity) left: \(reason).", at: .normal)
        case .agentStateChanged(let state): note("The agent is \(state).", at: .verbose)
        case .connectionLost(let reason): note("agentctl: \(reason); connecting again", at: .normal)
        case .reconnected(let isNewSession, let duration):
            let seconds = String(format: "%.1f s", duration.inSeconds)
            note("Connected again after \(seconds)\(isNewSession ? ", as a new session" : "").", at: .normal)
        case .toolCalled(let call):
            note("\(call.caller) calls \(call.tool) with \(Self.short(call.parameters)).", at: .normal)
        case .toolAnswered(let answer):
            let milliseconds = "\(Int(answer.duration.milliseconds.rounded())) ms"
            switch answer.result {
            case .success(let text):
                note("\(answer.call.tool) answered after \(milliseconds): \(Self.short(text))", at: .normal)
            case .failure(let error):
                note("agentctl: \(answer.call.tool) failed after \(milliseconds): \(error)", at: .normal)
            }
        case .connectionStep(let step):
            note("Connection: \(step.to.rawValue), since \(step.step.rawValue).", at: .verbose)
        case .regionChanged(let server):
            note("The server cannot be reached; trying \(server).", at: .normal)
        case .roomMoved(let room): note("The server moved the session to the room \(room).", at: .normal)
        case .connectionQualityChanged(let identity, let quality):
            note("The connection of \(identity) is \(quality.name).", at: .verbose)
        case .recordingStarted(let directory): note("Recording into \(directory).", at: .normal)
        case .preConnectAudioSent(let frames, _):
            let seconds = String(format: "%.1f s", Double(frames) / 48_000)
            note("The agent was given the \(seconds) of sound from before it could hear.", at: .normal)
        case .microphoneMuted(let isMuted, let cause):
            let by = cause == .user ? "" : " (by the \(cause.rawValue))"
            note("The microphone is \(isMuted ? "muted" : "on")\(by).", at: .normal)
        case .inputStarted: note("Speaking.", at: .verbose)
        case .inputFinished: note("Spoken; waiting for the answer.", at: .verbose)
        case .ended(let summary, _):
            write(transcript.finished())
            if summary.connect.total != nil {
                for line in SummaryText.lines(summary) { note(line, at: .normal) }
            }
        case .started, .tokenReceived, .userSpeechStarted, .userSpeechEnded, .agentAudioStarted, .agentAudioEnded,
            .turn:
            break
        }
    }

    private func write(_ text: String) {
        if !text.isEmpty { output.write(text) }
    }

    private static func short(_ text: String) -> String {
        text.count > 200 ? text.prefix(200) + "…" : text
    }

    private func note(_ text: String, at level: Verbosity) {
        guard verbosity.rawValue >= level.rawValue else { return }
        write(transcript.suspended())
        output.note(TerminalText.sanitized(text))
        write(transcript.resumed())
    }
}

extension LiveTranscript.Style {
    /// The style for this process's terminal, or for a pipe.
    static func current(environment: [String: String], plain: Bool) -> LiveTranscript.Style {
        let term = environment["TERM"] ?? ""
        let isTerminal = Output.shared.isTerminal && term != "dumb" && !term.isEmpty
        let noColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        var size = winsize()
        let known = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return LiveTranscript.Style(
            isLive: isTerminal && !plain, usesColor: isTerminal && !noColor && !plain,
            columns: known ? Int(size.ws_col) : 80, rows: known ? Int(size.ws_row) : 24)
    }
}
