import AudioPipeline
import Foundation
import LiveKitProtocol
import LoopCore

/// Where the pre-connect audio stands.
enum PreConnectPhase {
    /// Held back until an agent is there.
    case idle
    /// On its way to the agent since then.
    case streaming(PreConnectStream, since: MonotonicTime)
    case over
}

/// What was said before the agent could hear goes to it as a byte stream; the live track goes on where that ends.
extension VoiceSession {
    /// Agents want the stream complete 3 s after its header.
    private static let streamLimit = Duration.milliseconds(2_500)

    var preConnectIsPending: Bool {
        guard configuration.keepsPreConnectAudio else { return false }
        if case .over = preConnect { return false }
        return true
    }

    /// Begins the stream when it can, and sends what has come since.
    func advancePreConnect(now: MonotonicTime) {
        guard preConnectIsPending, let microphone = studio?.audio.microphone, microphone.isHolding else { return }
        switch preConnect {
        case .idle:
            guard let agent, let sid = track?.sid, room?.isConnected == true else { return }
            let id = UUID().uuidString.lowercased()
            guard var stream = PreConnectStream(streamID: id, agent: agent.identity) else {
                return releasePreConnect(nil)
            }
            let milliseconds = Int64(Date().timeIntervalSince1970 * 1000)
            guard send([stream.header(trackSid: sid, timestamp: milliseconds)] + stream.write(microphone.takeHeld()))
            else { return releasePreConnect(nil) }
            preConnect = .streaming(stream, since: now)
            // The agent may have subscribed before it was seen.
            if stamps.subscribed != nil { releasePreConnect(stream) }
        case .streaming(var stream, let since):
            guard send(stream.write(microphone.takeHeld())) else { return releasePreConnect(nil) }
            preConnect = .streaming(stream, since: since)
            if now - since >= Self.streamLimit { releasePreConnect(stream) }
        case .over: break
        }
    }

    /// The agent can hear the track.
    func preConnectSubscribed(now: MonotonicTime) {
        stamps.subscribed = stamps.subscribed ?? now
        guard case .streaming(let stream, _) = preConnect else { return advancePreConnect(now: now) }
        releasePreConnect(stream)
    }

    /// Ends the stream and lets the track go on; without a stream what was held is lost, and that is said.
    private func releasePreConnect(_ stream: PreConnectStream?) {
        preConnect = .over
        relax()
        guard let microphone = studio?.audio.microphone else { return }
        do {
            let rest = try microphone.release()
            guard var stream else {
                warn("what was said before the agent was there could not be sent to it")
                return
            }
            guard send(stream.write(rest) + stream.finish()) else {
                warn("what was said before the agent was there did not reach it whole")
                return
            }
            emit(.preConnectAudioSent(frames: stream.frames, droppedFrames: microphone.droppedFrames))
            guard microphone.droppedFrames > 0 else { return }
            let seconds = DisconnectCause.seconds(AudioFormat.duration(ofFrames: microphone.droppedFrames))
            warn(
                "the first \(seconds) of what was said could not be kept until the agent was there. Keep more with "
                    + "--pre-connect-buffer")
        } catch {
            end(SessionError(.audio, "the speech could not be encoded: \(error)"))
        }
    }

    private func send(_ packets: [DataPacket]) -> Bool {
        do {
            for packet in packets { try room?.sendData(packet) }
            return true
        } catch {
            return false
        }
    }
}
