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
            if case .request(let request) = event { take(request) }
        }
    }

    private func take(_ request: RPCEndpoint.Request) {
        guard request.method != Self.muteMethod else { return setMuted(by: request) }
        let call = ToolCall(
            id: request.id, caller: request.caller, tool: request.method, parameters: request.payload)
        let began = MonotonicTime.now
        emit(.toolCalled(call), at: began)
        let answer = tools.call(call, deadline: request.deadline, now: began) { [weak self] result in
            Task { await self?.ended(call, result, began: began) }
        }
        if let answer { ended(call, answer, began: began) }
    }

    private func ended(_ call: ToolCall, _ result: Result<String, RPCError>, began: MonotonicTime) {
        tools.ended(call.id)
        perform(rpc.answer(call.id, with: result))
        var result = result
        if case .success(let payload) = result, payload.utf8.count > RPCEndpoint.maximumPayload {
            result = .failure(.responsePayloadTooLarge)
        }
        emit(.toolAnswered(ToolAnswer(call: call, result: result, duration: .now - began)))
    }

    private func setMuted(by request: RPCEndpoint.Request) {
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
