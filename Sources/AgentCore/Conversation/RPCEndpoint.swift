public import LiveKitProtocol
public import LoopCore

/// Both ends of LiveKit's remote procedure calls, by the packets of version 1: calls that go out and calls that come in.
/// Pure: packets and the time go in, packets to send (reliably) and events come out.
///
/// Only the callee may answer a call; each call is answered once, in whatever way; what is open is bounded.
public struct RPCEndpoint: Sendable {
    /// Bytes of UTF-8 in a request or an answer.
    public static let maximumPayload = 15_360

    public struct Limits: Sendable, Equatable {
        /// How long a callee may take to confirm a call.
        public var acknowledgement = Duration.seconds(7)
        /// Calls of either kind that may be open at once.
        public var openCalls = 256

        public init() {}
    }

    /// A call that came in.
    public struct Request: Sendable, Equatable {
        public var id: String
        public var caller: String
        public var method: String
        public var payload: String
        /// The caller gives up then.
        public var deadline: MonotonicTime
    }

    public enum Event: Sendable, Equatable {
        /// Somebody calls; ``RPCEndpoint/answer(_:with:)`` is to follow.
        case request(Request)
        /// A call of ours ended.
        case ended(id: String, Result<String, RPCError>)
    }

    /// What to send, and what happened.
    public struct Output: Sendable, Equatable {
        public var packets: [DataPacket] = []
        public var events: [Event] = []
    }

    private struct Outgoing: Sendable {
        var callee: String
        var isAcknowledged = false
        var acknowledgeBy: MonotonicTime
        var deadline: MonotonicTime
    }

    public let limits: Limits
    /// The methods that are served; others are refused.
    public var methods: Set<String> = []
    private var outgoing: [String: Outgoing] = [:]
    private var incoming: [String: (caller: String, deadline: MonotonicTime)] = [:]

    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    public var openCalls: Int { outgoing.count + incoming.count }

    // MARK: Calls that go out

    /// Begins a call.
    /// - Parameters:
    ///   - id: unique; it comes back with the end.
    ///   - timeout: for the answer, from now.
    public mutating func call(
        id: String, callee: String, method: String, payload: String, timeout: Duration = .seconds(15),
        now: MonotonicTime
    ) -> Output {
        guard payload.utf8.count <= Self.maximumPayload else {
            return Output(events: [.ended(id: id, .failure(.requestPayloadTooLarge))])
        }
        guard outgoing.count < limits.openCalls, outgoing[id] == nil else {
            return Output(events: [.ended(id: id, .failure(.sendFailed))])
        }
        outgoing[id] = Outgoing(
            callee: callee, acknowledgeBy: now + limits.acknowledgement, deadline: now + timeout)
        var request = RpcRequest()
        request.id = id
        request.method = method
        request.payload = payload
        // What is left of it when the request has made its way; never so little that it cannot be met.
        let remaining = max(timeout, .seconds(1))
        request.responseTimeoutMs = UInt32(clamping: Int(remaining.milliseconds))
        request.version = 1
        return Output(packets: [DataPacket(.rpcRequest(request), to: [callee])])
    }

    /// A call could not be sent.
    public mutating func sendFailed(id: String) -> Output {
        end(id, .failure(.sendFailed))
    }

    private mutating func end(_ id: String, _ result: Result<String, RPCError>) -> Output {
        guard outgoing.removeValue(forKey: id) != nil else { return Output() }
        return Output(events: [.ended(id: id, result)])
    }

    // MARK: Packets

    /// Takes a packet; those that are not about calls change nothing.
    public mutating func receive(_ packet: DataPacket, now: MonotonicTime) -> Output {
        let sender = packet.participantIdentity
        switch packet.value {
        case .rpcRequest(let request)?: return serve(request, from: sender, now: now)
        case .rpcAck(let ack)?:
            if outgoing[ack.requestId]?.callee == sender { outgoing[ack.requestId]?.isAcknowledged = true }
            return Output()
        case .rpcResponse(let response)?:
            guard outgoing[response.requestId]?.callee == sender else { return Output() }
            switch response.value {
            case .payload(let payload)?: return end(response.requestId, .success(payload))
            case .error(let error)?: return end(response.requestId, .failure(RPCError(error)))
            case .compressedPayload?: return end(response.requestId, .failure(.unsupportedVersion))
            // An empty answer has no field at all on the wire.
            case nil: return end(response.requestId, .success(""))
            }
        default: return Output()
        }
    }

    private mutating func serve(_ request: RpcRequest, from caller: String, now: MonotonicTime) -> Output {
        // The same again: it was confirmed and will be answered.
        guard !request.id.isEmpty, incoming[request.id] == nil else { return Output() }
        var ack = RpcAck()
        ack.requestId = request.id
        var output = Output(packets: [DataPacket(.rpcAck(ack), to: [caller])])
        if let refusal = refusal(of: request) {
            output.packets.append(Self.response(to: request.id, caller, .failure(refusal)))
            return output
        }
        let deadline = now + .milliseconds(Int64(request.responseTimeoutMs))
        incoming[request.id] = (caller, deadline)
        output.events.append(
            .request(
                Request(
                    id: request.id, caller: caller, method: request.method, payload: request.payload,
                    deadline: deadline)))
        return output
    }

    private func refusal(of request: RpcRequest) -> RPCError? {
        if request.version != 1 || !request.compressedPayload.isEmpty { return .unsupportedVersion }
        if !methods.contains(request.method) { return .unsupportedMethod }
        if request.payload.utf8.count > Self.maximumPayload { return .requestPayloadTooLarge }
        if incoming.count >= limits.openCalls { return RPCError(code: 1500, message: "too many calls are open") }
        return nil
    }

    /// Answers a call that came in. Nothing is sent where the caller gave up, or was answered.
    public mutating func answer(_ id: String, with result: Result<String, RPCError>) -> Output {
        guard let call = incoming.removeValue(forKey: id) else { return Output() }
        var result = result
        if case .success(let payload) = result, payload.utf8.count > Self.maximumPayload {
            result = .failure(.responsePayloadTooLarge)
        }
        return Output(packets: [Self.response(to: id, call.caller, result)])
    }

    // MARK: Time and people

    /// Ends what took too long.
    public mutating func tick(now: MonotonicTime) -> Output {
        var output = Output()
        for (id, call) in outgoing.sorted(by: { $0.key < $1.key }) {
            if !call.isAcknowledged, now >= call.acknowledgeBy || now >= call.deadline {
                output.events += end(id, .failure(.connectionTimeout)).events
            } else if now >= call.deadline {
                output.events += end(id, .failure(.responseTimeout)).events
            }
        }
        for (id, call) in incoming where now >= call.deadline { incoming[id] = nil }
        return output
    }

    /// A participant left: it answers nothing any more, and wants no answers.
    public mutating func participantLeft(identity: String) -> Output {
        var output = Output()
        for (id, call) in outgoing.sorted(by: { $0.key < $1.key }) where call.callee == identity {
            output.events += end(id, .failure(.recipientDisconnected)).events
        }
        for (id, call) in incoming where call.caller == identity { incoming[id] = nil }
        return output
    }

    private static func response(to id: String, _ caller: String, _ result: Result<String, RPCError>) -> DataPacket {
        var response = RpcResponse()
        response.requestId = id
        switch result {
        case .success(let payload): response.value = .payload(payload)
        case .failure(let failure):
            var error = RpcError()
            error.code = failure.code
            error.message = failure.message
            error.data = failure.data
            response.value = .error(error)
        }
        return DataPacket(.rpcResponse(response), to: [caller])
    }
}
