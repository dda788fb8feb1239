import AudioPipeline
import LoopCore
import RTCTransport

extension VoiceSession {
    /// Counters are taken while the transports still stand.
    func collect() {
        summary.duration = stamps.started.map { .now - $0 } ?? .zero
        summary.turns = turnClock.turns
        if let timings = room?.timings {
            stamps.iceConnected = timings.iceConnected
            stamps.dtlsConnected = timings.dtlsConnected
            stamps.firstPacketSent = timings.firstPacketSent
        }
        summary.connect = stamps.breakdown
        collectDevices()
        guard let statistics = room?.statistics else { return }
        for sent in statistics.sent.values { summary.sent.add(sent) }
        for received in statistics.received.values { summary.received.add(received) }
        summary.roundTripMilliseconds = statistics.sent.values.compactMap(\.roundTripMilliseconds).first
        guard let audio = studio?.audio else { return }
        summary.sent.audioSeconds = audio.microphone?.sentSeconds ?? 0
        summary.received.audioSeconds = audio.playedSeconds
        let playout = audio.speaker.statistics
        summary.received.concealedSeconds = playout.concealedMilliseconds / 1000
        summary.received.stretchedSeconds =
            Double(playout.insertedFrames + playout.removedFrames) / Double(AudioFormat.sampleRate)
        summary.received.recoveredByFEC = playout.recoveredByFEC
        summary.received.recoveredByRED = playout.recoveredByRED
    }

    private func collectDevices() {
        if case .microphone(let device) = configuration.input {
            summary.microphone = DeviceSummary(
                name: device.name, configuration: device.configuration, statistics: device.statistics,
                driftPPM: studio?.audio.sourceDriftPPM)
        }
        if let device = configuration.speaker {
            summary.speaker = DeviceSummary(
                name: device.name, configuration: device.configuration, statistics: device.statistics,
                driftPPM: studio?.audio.playbackDriftPPM)
        }
        summary.echoReturnLossEnhancement = studio?.audio.echoReturnLossEnhancement
    }
}

extension AudioTraffic {
    fileprivate mutating func add(_ sent: SenderStatistics) {
        packets += sent.packets
        bytes += sent.bytes
        lost += Int64(sent.cumulativeLost)
        lossRatio = packets > 0 ? max(0, Double(lost)) / Double(packets) : 0
        jitterMilliseconds = max(jitterMilliseconds, sent.remoteJitterMilliseconds)
    }

    fileprivate mutating func add(_ received: ReceiverStatistics) {
        packets += received.packets
        bytes += received.bytes
        lost += received.lost
        let expected = Double(packets) + Double(max(0, lost))
        lossRatio = expected > 0 ? Double(max(0, lost)) / expected : 0
        jitterMilliseconds = max(jitterMilliseconds, received.jitterMilliseconds)
    }
}
