import AgentCore
import Foundation
import LoopCore

/// The closing summary of a session, as lines for people.
enum SummaryText {
    static func lines(_ summary: SessionSummary) -> [String] {
        var lines: [String] = []
        let connect = summary.connect
        if let total = connect.total {
            lines.append(
                row(
                    "connect",
                    "\(ms(total)) in all: token \(ms(connect.token)), signaling \(ms(connect.signaling)), "
                        + "ICE \(ms(connect.ice)), DTLS \(ms(connect.dtls)), first packet \(ms(connect.firstPacket))"))
        }
        for (index, turn) in summary.turns.enumerated() {
            lines.append(
                row("turn \(index + 1)", "answered after \(ms(turn.firstAudio)) (sound), \(ms(turn.firstText)) (text)"))
        }
        if summary.sent.packets > 0 { lines.append(row("sent", traffic(summary.sent, conceals: false))) }
        if summary.received.packets > 0 { lines.append(row("received", traffic(summary.received, conceals: true))) }
        if let roundTrip = summary.roundTripMilliseconds { lines.append(row("round trip", "\(decimal(roundTrip)) ms")) }
        lines.append(row("duration", String(format: "%.1f s", summary.duration.inSeconds)))
        if let recording = summary.recording { lines.append(row("recording", recording)) }
        return lines
    }

    private static func row(_ name: String, _ text: String) -> String {
        name + String(repeating: " ", count: max(1, 12 - name.count)) + text
    }

    private static func traffic(_ traffic: AudioTraffic, conceals: Bool) -> String {
        var text = String(
            format: "%.1f s of audio, %llu packets, %.1f kB, lost %lld (%.1f %%), jitter ", traffic.audioSeconds,
            traffic.packets, Double(traffic.bytes) / 1000, traffic.lost, traffic.lossRatio * 100)
        text += decimal(traffic.jitterMilliseconds) + " ms"
        if conceals, traffic.concealedSeconds > 0 {
            text += String(format: ", concealed %.2f s", traffic.concealedSeconds)
        }
        return text
    }

    private static func ms(_ duration: Duration?) -> String {
        guard let duration else { return "-" }
        return decimal(duration.milliseconds) + " ms"
    }

    private static func decimal(_ value: Double) -> String {
        value < 10 ? String(format: "%.1f", value) : String(format: "%.0f", value)
    }
}
