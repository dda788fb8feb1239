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
        if let microphone = summary.microphone { lines.append(row("microphone", device(microphone))) }
        if let speaker = summary.speaker { lines.append(row("speaker", device(speaker))) }
        if let enhancement = summary.echoReturnLossEnhancement {
            lines.append(row("echo", "\(enhancement) dB taken out (ERLE)"))
        }
        lines.append(row("duration", String(format: "%.1f s", summary.duration.inSeconds)))
        if let recording = summary.recording { lines.append(row("recording", recording)) }
        return lines
    }

    private static func device(_ device: DeviceSummary) -> String {
        var text =
            "\(device.name), \(device.rate) Hz \(device.format) x \(device.channels), \(device.scheduling), "
            + "xruns \(device.xruns)"
        if device.suspends > 0 { text += ", suspended \(device.suspends) times" }
        if device.reconnects > 0 { text += ", lost and found \(device.reconnects) times" }
        if device.silentMilliseconds > 0 { text += ", silence put in \(decimal(device.silentMilliseconds)) ms" }
        if device.droppedMilliseconds > 0 { text += ", dropped \(decimal(device.droppedMilliseconds)) ms" }
        if let drift = device.driftPPM { text += String(format: ", drift %+.0f ppm", drift) }
        return text
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
        if traffic.stretchedSeconds > 0.005 { text += String(format: ", stretched %.2f s", traffic.stretchedSeconds) }
        if traffic.recoveredByRED > 0 { text += ", recovered by RED \(traffic.recoveredByRED)" }
        if traffic.recoveredByFEC > 0 { text += ", by FEC \(traffic.recoveredByFEC)" }
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
