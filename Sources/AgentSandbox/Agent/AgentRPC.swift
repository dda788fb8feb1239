import Foundation
import LiveKitProtocol

/// The remote procedures that the agent serves, by the packets of RPC version 1. Pure but for random ids.
///
/// `echo` returns its payload. `call` takes the name of a method, calls it on the caller with the payload `"ping"`, and
/// returns what that returned.
struct AgentRPC: Sendable {
    /// Calls of our own that wait: by their id, the request that caused them.
    private var calls: [String: (request: String, caller: String)] = [:]
    private static let maximumCalls = 64
    private static let unsupportedMethod: UInt32 = 1400
    private static let applicationError: UInt32 = 1500

    init() {}

    /// What to send in answer to a packet.
    mutating func handle(_ packet: DataPacket) -> [DataPacket] {
        switch packet.value {
        case .rpcRequest(let request): return serve(request, from: packet.participantIdentity)
        case .rpcResponse(let response): return returned(response, from: packet.participantIdentity)
        default: return []
        }
    }

    private mutating func serve(_ request: RpcRequest, from caller: String) -> [DataPacket] {
        var ack = RpcAck()
        ack.requestId = request.id
        var packets = [DataPacket(.rpcAck(ack), to: [caller])]
        switch request.method {
        case "echo":
            packets.append(Self.response(to: request.id, .payload(request.payload), caller))
        case "call" where calls.count < Self.maximumCalls:
            var call = RpcRequest()
            call.id = UUID().uuidString.lowercased()
            call.method = request.payload
            call.payload = "ping"
            call.responseTimeoutMs = 8000
            call.version = 1
            calls[call.id] = (request.id, caller)
            packets.append(DataPacket(.rpcRequest(call), to: [caller]))
        default:
            packets.append(
                Self.response(
                    to: request.id, .error(Self.error(Self.unsupportedMethod, "Method not supported at destination")),
                    caller))
        }
        return packets
    }

    private mutating func returned(_ response: RpcResponse, from callee: String) -> [DataPacket] {
        guard let call = calls[response.requestId], call.caller == callee else { return [] }
        calls[response.requestId] = nil
        let value: RpcResponse.Value =
            switch response.value {
            case .payload(let payload): .payload(payload)
            case .error(let error): .error(error)
            default: .error(Self.error(Self.applicationError, "the answer cannot be read"))
            }
        return [Self.response(to: call.request, value, call.caller)]
    }

    private static func error(_ code: UInt32, _ message: String) -> RpcError {
        var error = RpcError()
        error.code = code
        error.message = message
        return error
    }

    private static func response(to id: String, _ value: RpcResponse.Value, _ caller: String) -> DataPacket {
        var response = RpcResponse()
        response.requestId = id
        response.value = value
        return DataPacket(.rpcResponse(response), to: [caller])
    }
}
