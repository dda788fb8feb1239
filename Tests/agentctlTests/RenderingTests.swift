import AgentCore
import LoopCore
import Testing

@testable import agentctl

@Suite struct RenderingTests {
    private let time = MonotonicTime(nanoseconds: 0)

    private func event(_ id: String, _ text: String, final: Bool, user: Bool = false) -> TranscriptEvent {
        TranscriptEvent(
            segmentID: id, speaker: user ? .user : .agent("a"), text: text, delta: nil, isFinal: final, language: nil,
            firstAt: time, updatedAt: time)
    }

    @Test func nothingOfOthersReachesTheTerminalRaw() {
        let hostile = "a\u{1b}[31mred\u{7}\u{8}\u{9b}2J\r\nb\u{202e}c\u{2066}d\u{0}\u{7f}\tend"
        let text = TerminalText.sanitized(hostile)
        #expect(text == "a[31mred2J  bcd end")
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) })
    }

    @Test func widthsOfWideAndCombiningText() {
        #expect(TerminalText.width("abc") == 3)
        #expect(TerminalText.width("日本") == 4)
        #expect(TerminalText.width("e\u{301}") == 1)
        #expect(TerminalText.width("🐎") == 2)
        #expect(TerminalText.width("👩‍👩‍👧") == 2)
    }

    @Test(arguments: [2, 5, 10, 20, 80]) func linesAreNeverWiderThanTheTerminal(columns: Int) {
        let text = "The quick brown fox 日本語日本語 jumpsoverthelazydogjumpsoverthelazydog 🐎🐎🐎 end"
        let lines = TerminalText.wrapped(text, columns: columns, firstPrefix: "Agent: ", indent: 7)
        #expect(lines.allSatisfy { TerminalText.width($0) <= columns })
        let kept = lines.joined().filter { $0 != " " }
        #expect(kept.hasSuffix(text.filter { $0 != " " }))
    }

    @Test func inAPipeEachFinalSegmentIsALine() {
        var transcript = LiveTranscript(style: .init(isLive: false, usesColor: false, columns: 80, rows: 24))
        var output = ""
        output += transcript.update(event("1", "Hel", final: false, user: true))
        output += transcript.update(event("1", "Hello", final: false, user: true))
        output += transcript.update(event("1", "Hello  there\n", final: true, user: true))
        output += transcript.update(event("2", "Good day.", final: true))
        output += transcript.update(event("3", "I was cut", final: false))
        output += transcript.finished()
        #expect(output == "You:   Hello there\nAgent: Good day.\nAgent: I was cut\n")
    }

    @Test func onATerminalTheOpenSegmentIsRewrittenInPlace() {
        var transcript = LiveTranscript(style: .init(isLive: true, usesColor: false, columns: 20, rows: 24))
        #expect(transcript.update(event("1", "one two", final: false)) == "Agent: one two")
        // One row up to date: back to its start, erased, drawn again, now on two rows.
        #expect(
            transcript.update(event("1", "one two three four", final: false))
                == "\r\u{1b}[JAgent: one two\r\n       three four")
        #expect(
            transcript.update(event("1", "one two three four", final: true))
                == "\r\u{1b}[1A\u{1b}[JAgent: one two\n       three four\n")
    }

    @Test func aTallSegmentOnASmallScreenShowsItsEnd() {
        var transcript = LiveTranscript(style: .init(isLive: true, usesColor: false, columns: 20, rows: 4))
        let text = (0..<40).map { "word\($0)" }.joined(separator: " ")
        let drawn = transcript.update(event("1", text, final: false))
        #expect(drawn.components(separatedBy: "\r\n").count == 3)
        #expect(drawn.hasSuffix("word39"))
    }

    @Test func theSummaryNamesEveryStep() {
        var summary = SessionSummary()
        summary.connect.total = .milliseconds(72)
        summary.connect.token = .milliseconds(23)
        summary.sent.packets = 10
        summary.recording = "reply.wav"
        let text = SummaryText.lines(summary).joined(separator: "\n")
        for word in [
            "connect", "token 23 ms", "signaling -", "ICE", "DTLS", "first packet", "sent", "recording   reply.wav",
        ] {
            #expect(text.contains(word))
        }
    }

    @Test func jsonLinesAreOneLineEach() {
        let value = JSONValue.object([
            ("a", .string("x\n\u{1b}\u{2028}\"\\é")), ("b", .number(.nan)), ("c", .array([.null])),
        ])
        #expect(value.line == #"{"a":"x\n\u001b\u2028\"\\é","b":null,"c":[null]}"#)
    }
}
