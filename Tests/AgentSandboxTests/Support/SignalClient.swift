import Foundation
import LiveKitProtocol
import LoopCore
import RTCTransport
import WebIO

/// A client that speaks to the server message by message, for what `Room` never says: garbage, resumes, odd orders.
actor SignalClient {
    nonisolated let loop = EventLoop(name: "signal-client")
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var socket: WebSocket?
    private(set) var messages: [SignalResponse.Message] = []
    private(set) var isClosed = false
    private(set) var refusal: HTTPResponse?
    private var connection: PeerConnection?
    private(set) var packets: [DataPacket] = []
    private var reliable: DataChannel?

    /// Opens a socket; a path with a query.
    func open(_ url: String, token: String) {
        isClosed = false
        messages = []
        let headers = HTTPHeaders([("Authorization", "Bearer " + token)])
        socket = WebSocket.connect(loop: loop, url: url, headers: headers) { [self] event in
            switch event {
            case .binary(let bytes):
                if let message = try? SignalResponse(serializedBytes: bytes).message { received(message) }
            case .closed: isClosed = true
            case .failed(let error):
                isClosed = true
                if case .handshake(let response) = error { refusal = response }
            case .opened, .text: break
            }
        }
    }

    func drop() {
        socket?.abort()
        socket = nil
    }

    func close() {
        socket?.close()
        connection?.close()
    }

    func send(_ message: SignalRequest.Message) {
        var request = SignalRequest()
        request.message = message
        socket?.send(binary: request.serializedBytes())
    }

    func send(raw bytes: [UInt8]) { socket?.send(binary: bytes) }
    func send(text: String) { socket?.send(text: text) }

    private func received(_ message: SignalResponse.Message) {
        messages.append(message)
        switch message {
        case .answer(let answer): try? connection?.setRemoteDescription(.init(kind: .answer, sdp: answer.sdp))
        case .trickle(let trickle):
            if let candidate = ICECandidate(json: trickle.candidateInit) { connection?.add(candidate) }
        default: break
        }
    }

    // MARK: One peer connection

    /// Makes a connection with the data channels, and the query of a join with its offer.
    func makeJoin(autoSubscribe: Bool = true) throws -> String {
        var configuration = PeerConnection.Configuration()
        configuration.loopbackOnly = true
        configuration.defersGathering = true
        let connection = try PeerConnection(loop: loop, configuration: configuration)
        self.connection = connection
        connection.onEvent = { [self] event in
            guard case .iceCandidate(let candidate) = event else { return }
            var trickle = TrickleRequest()
            trickle.candidateInit = candidate.json
            send(.trickle(trickle))
        }
        let channel = connection.createDataChannel(label: "_reliable")
        channel.onMessage = { [self] bytes, _ in
            if let packet = try? DataPacket(serializedBytes: bytes) { packets.append(packet) }
        }
        reliable = channel
        _ = connection.createDataChannel(label: "_lossy", ordered: false, maxRetransmits: 0)
        _ = connection.addTransceiver(kind: .audio, direction: .recvonly)
        var request = JoinRequest()
        request.connectionSettings = ConnectionSettings()
        request.connectionSettings?.autoSubscribe = autoSubscribe
        request.publisherOffer = try makeOffer(id: 1)
        return Self.query(request)
    }

    func makeOffer(id: UInt32, iceRestart: Bool = false) throws -> LiveKitProtocol.SessionDescription {
        guard let connection else { return .init() }
        let offer = try connection.createOffer(iceRestart: iceRestart)
        try connection.setLocalDescription(offer)
        var message = LiveKitProtocol.SessionDescription()
        message.type = "offer"
        message.sdp = offer.sdp
        message.id = id
        return message
    }

    var isConnected: Bool { connection?.connectionState == .connected && reliable?.readyState == .open }

    func send(packet: DataPacket) throws { try reliable?.send(binary: packet.serializedBytes()) }

    /// The query that carries a join request.
    static func query(_ request: JoinRequest) -> String {
        var wrapped = WrappedJoinRequest()
        wrapped.joinRequest = request.serializedBytes()
        let text = Data(wrapped.serializedBytes()).base64EncodedString()
        return "join_request=" + (text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }

    /// The first message that `pick` makes something of.
    func first<Value: Sendable>(_ pick: @Sendable (SignalResponse.Message) -> Value?) -> Value? {
        messages.lazy.compactMap(pick).first
    }
}
