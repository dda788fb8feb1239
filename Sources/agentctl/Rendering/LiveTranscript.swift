import AgentCore

/// The transcript as it grows. On a terminal the segments that are still open are rewritten in place below what is
/// final; elsewhere each segment is a line once it is final.
///
/// Pure: it returns what to write.
struct LiveTranscript {
    struct Style {
        /// Whether open segments may be rewritten (a terminal that is not dumb).
        var isLive: Bool
        var usesColor: Bool
        /// Of the terminal.
        var columns: Int
        var rows: Int
    }

    var style: Style
    private var open: [TranscriptEvent] = []
    private var drawnRows = 0

    init(style: Style) {
        self.style = style
    }

    /// What to write for an update.
    mutating func update(_ event: TranscriptEvent) -> String {
        if event.isFinal {
            open.removeAll { $0.segmentID == event.segmentID && $0.speaker == event.speaker }
            return style.isLive ? erased() + final(event) + drawn() : final(event)
        }
        if let index = open.firstIndex(where: { $0.segmentID == event.segmentID && $0.speaker == event.speaker }) {
            open[index] = event
        } else {
            open.append(event)
        }
        return style.isLive ? erased() + drawn() : ""
    }

    /// Takes the open segments off the terminal, to write something else above them.
    mutating func suspended() -> String { style.isLive ? erased() : "" }
    /// Puts them back.
    mutating func resumed() -> String { style.isLive ? drawn() : "" }

    /// What was still open when the session ended, as lines of its own.
    mutating func finished() -> String {
        defer { open = [] }
        return suspended() + open.map { final($0) }.joined()
    }

    private static func label(_ speaker: TranscriptEvent.Speaker) -> String {
        switch speaker {
        case .user: "You:   "
        case .agent: "Agent: "
        case .participant(let identity): TerminalText.sanitized(identity) + ": "
        }
    }

    private func final(_ event: TranscriptEvent) -> String {
        let text = TerminalText.sanitized(event.text)
        let label = Self.label(event.speaker)
        guard style.isLive else { return label + text.split(separator: " ").joined(separator: " ") + "\n" }
        let lines = TerminalText.wrapped(text, columns: style.columns - 1, firstPrefix: label, indent: label.count)
        return lines.map { painted($0, label, isOpen: false) + "\n" }.joined()
    }

    private func painted(_ line: String, _ label: String, isOpen: Bool) -> String {
        guard style.usesColor else { return line }
        if isOpen { return "\u{1b}[2m\(line)\u{1b}[0m" }
        guard line.hasPrefix(label) else { return line }
        return "\u{1b}[1m\(label)\u{1b}[0m" + line.dropFirst(label.count)
    }

    private mutating func erased() -> String {
        defer { drawnRows = 0 }
        guard drawnRows > 0 else { return "" }
        // The cursor is at the end of the last row drawn.
        return "\r" + (drawnRows > 1 ? "\u{1b}[\(drawnRows - 1)A" : "") + "\u{1b}[J"
    }

    private mutating func drawn() -> String {
        var lines: [String] = []
        for event in open {
            let label = Self.label(event.speaker)
            // One column stays free: a full row would leave the cursor on the next.
            let wrapped = TerminalText.wrapped(
                TerminalText.sanitized(event.text), columns: style.columns - 1, firstPrefix: label, indent: label.count)
            lines += wrapped.map { painted($0, label, isOpen: true) }
        }
        // What does not fit on the screen could not be erased again: the newest rows are shown.
        lines = lines.suffix(max(1, style.rows - 1))
        drawnRows = lines.count
        return lines.joined(separator: "\r\n")
    }
}
