import Foundation
import LoopCore

/// The tools that a session serves: checks calls, runs commands within their limits, and ends what still runs when the
/// session does. Confined to the session.
final class ToolBox {
    private let tools: [String: ClientTool]
    private var running: [String: (tool: String, process: ToolProcess)] = [:]

    init(_ tools: [ClientTool]) {
        self.tools = Dictionary(tools.map { ($0.name, $0) }) { first, _ in first }
    }

    deinit { cancelAll() }

    var names: Set<String> { Set(tools.keys) }

    /// Begins a call.
    /// - Parameters:
    ///   - deadline: when the caller gives up.
    ///   - completion: called from any thread with the answer of a command; not when an answer is returned.
    /// - Returns: the answer, where there is one at once.
    func call(
        _ call: ToolCall, deadline: MonotonicTime, now: MonotonicTime,
        completion: @escaping @Sendable (Result<String, RPCError>) -> Void
    ) -> Result<String, RPCError>? {
        guard let tool = tools[call.tool] else { return .failure(.unsupportedMethod) }
        if let problem = Self.problem(call.parameters, tool) { return .failure(.application(problem)) }
        switch tool.action {
        case .reply(let text): return .success(text)
        case .command(let arguments):
            guard running.values.count(where: { $0.tool == tool.name }) < tool.concurrency else {
                return .failure(.application("\(tool.name) is busy: \(tool.concurrency) calls are running"))
            }
            let process = ToolProcess()
            running[call.id] = (tool.name, process)
            process.start(
                arguments, input: Array(call.parameters.utf8),
                environment: ["AGENTCTL_TOOL": tool.name, "AGENTCTL_CALLER": call.caller],
                outputLimit: RPCEndpoint.maximumPayload, timeLimit: min(tool.timeLimit, max(deadline - now, .zero))
            ) { completion(Self.answer(of: $0, tool.name)) }
            return nil
        }
    }

    /// A command ended.
    func ended(_ id: String) {
        running[id] = nil
    }

    /// Ends a call that nobody waits for any more.
    func cancel(_ id: String) {
        running.removeValue(forKey: id)?.process.cancel()
    }

    func cancelAll() {
        for (_, process) in running.values { process.cancel() }
        running = [:]
    }

    private static func problem(_ parameters: String, _ tool: ClientTool) -> String? {
        guard let schema = tool.parameters else { return nil }
        // A call without parameters is one with none.
        guard let value = JSONValue(json: parameters.isEmpty ? "{}" : parameters) else {
            return "the parameters of \(tool.name) are not JSON"
        }
        return schema.problem(with: value).map { "the parameters of \(tool.name) do not fit: \($0)" }
    }

    private static func answer(of outcome: ToolProcess.Outcome, _ name: String) -> Result<String, RPCError> {
        switch outcome {
        case .succeeded(let bytes):
            guard var text = String(validating: bytes, as: UTF8.self) else {
                return .failure(.application("\(name) wrote something that is not UTF-8"))
            }
            // What programs end their last line with.
            if text.hasSuffix("\n") { text.removeLast() }
            return .success(text)
        case .failed(let status, let message):
            let detail = message.isEmpty ? "" : ": \(message)"
            return .failure(.application("\(name) failed with status \(status)\(detail)"))
        case .notStarted(let reason): return .failure(.application("\(name) could not be started: \(reason)"))
        case .tookTooLong: return .failure(.responseTimeout)
        case .wroteTooMuch: return .failure(.responsePayloadTooLarge)
        }
    }
}

extension RPCError {
    static func application(_ message: String) -> RPCError {
        RPCError(code: 1500, message: message)
    }
}
