import LiveKitProtocol
import LoopCore

/// The remote procedures that a session serves.
extension VoiceSession {
    /// Mutes or unmutes the microphone: payload `true` or `false`; the answer is how it stands then.
    public static let muteMethod = "agentctl.set_microphone_muted"

    func perform(_ output: RPCEndpoint.Output) {
        for packet in output.packets {
            do {
                try room?.sendData(packet)
            } catch {
                warn("an answer to a remote call was not sent: \(error)")
            }
        }
        for event in output.events {
            if case .request(let request) = event { serve(request) }
        }
    }

    private func serve(_ request: RPCEndpoint.Request) {
        let answer: Result<String, RPCError>
        switch request.payload.filter({ !$0.isWhitespace }) {
        case "true":
            setMuted(true, by: .agent)
            answer = .success("true")
        case "false":
            setMuted(false, by: .agent)
            answer = .success("false")
        default:
            answer = .failure(RPCError(code: 1500, message: "the payload has to be true or false"))
        }
        perform(rpc.answer(request.id, with: answer))
    }
}
