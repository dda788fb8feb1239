import Foundation
import LiveKitProtocol
import LoopCore
import RTCTransport

@testable import AgentCore

/// Plays the driver of a ``RoomStateMachine``: makes up offers, reports what answers hold, and keeps what came out.
struct MachineDriver {
    var machine: RoomStateMachine
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private(set) var events: [RoomEvent] = []
    private(set) var requests: [SignalRequest.Message] = []
    private(set) var effects: [RoomStateMachine.Effect] = []
    private(set) var sockets: [(generation: Int, url: String, token: String)] = []
    /// How each request ended; a request must end once.
    private(set) var requestsEnded: [UInt32: RequestError?] = [:]
    private var offers = 0

    /// - Parameter reconnects: most tests are about how a connection ends, and want no attempt to get it back.
    init(_ configuration: RoomStateMachine.Configuration = .init(), reconnects: Int = 0) {
        var configuration = configuration
        configuration.maximumReconnects = reconnects
        machine = RoomStateMachine(configuration: configuration)
    }

    mutating func send(_ input: RoomStateMachine.Input) {
        var inputs = [input]
        while !inputs.isEmpty {
            for effect in machine.handle(inputs.removeFirst(), now: now) {
                effects.append(effect)
                switch effect {
                case .event(let event): events.append(event)
                case .send(let request): if let message = request.message { requests.append(message) }
                case .openSocket(let generation, let url, let token): sockets.append((generation, url, token))
                case .requestEnded(let id, let error):
                    precondition(requestsEnded.updateValue(error, forKey: id) == nil, "request \(id) ended twice")
                case .makeOffer:
                    offers += 1
                    inputs.append(.offerMade(sdp: "offer \(offers)"))
                // With two connections the one that publishes receives nothing.
                case .applyAnswer(let sdp):
                    if machine.path == .v1 { inputs.append(.receiving(Self.receiving(sdp))) }
                case .applyOffer(let sdp, let id):
                    inputs.append(.answerMade(sdp: "answer", id: id))
                    inputs.append(.receiving(Self.receiving(sdp)))
                default: break
                }
            }
        }
    }

    /// The sections of a description of the server in which it sends.
    static func receiving(_ sdp: String) -> [RoomStateMachine.Receiving] {
        guard let message = try? SDPMessage(parsing: sdp) else { return [] }
        return message.sections.compactMap { section in
            func value(_ name: String) -> String? { section.attributes.first { $0.name == name }?.value }
            let sends = section.attributes.contains { $0.name == "sendonly" || $0.name == "sendrecv" }
            guard section.media == "audio", sends, let mid = value("mid"), let msid = value("msid") else { return nil }
            let parts = msid.split(separator: " ").map(String.init)
            return .init(mid: mid, stream: parts[0], track: parts.count > 1 ? parts[1] : "")
        }
    }

    mutating func receive(_ message: SignalResponse.Message) {
        var response = SignalResponse()
        response.message = message
        send(.received(generation: machine.generation, response))
    }

    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while now < end {
            now = now + .milliseconds(100)
            send(.tick)
        }
    }

    mutating func connect() {
        send(.connect(url: "ws://server.test/base", token: "secret-token"))
        send(.socketOpened(generation: machine.generation))
    }

    /// A join response for `alice`.
    static func join(_ change: (inout JoinResponse) -> Void = { _ in }) -> JoinResponse {
        var join = JoinResponse()
        var room = LiveKitProtocol.Room()
        room.sid = "RM_1"
        room.name = "demo"
        join.room = room
        join.participant = participant("PA_me", "alice")
        join.pingInterval = 5
        join.pingTimeout = 15
        change(&join)
        return join
    }

    /// Connected to a room as `alice`, over one connection.
    static func joined(_ change: (inout JoinResponse) -> Void = { _ in }) -> MachineDriver {
        var driver = MachineDriver()
        driver.connect()
        driver.receive(.join(join(change)))
        driver.receive(.answer(description("answer", id: 1)))
        driver.send(.transportConnected(.publisher))
        return driver
    }

    static func participant(
        _ sid: String, _ identity: String, version: UInt32 = 1, state: ParticipantInfo.State = .active,
        tracks: [String] = []
    ) -> ParticipantInfo {
        var info = ParticipantInfo()
        info.sid = sid
        info.identity = identity
        info.version = version
        info.state = state
        info.tracks = tracks.map { sid in
            var track = TrackInfo()
            track.sid = sid
            return track
        }
        return info
    }

    static func description(_ type: String, id: UInt32, sdp: String = "") -> LiveKitProtocol.SessionDescription {
        var description = LiveKitProtocol.SessionDescription()
        description.type = type
        description.sdp = sdp
        description.id = id
        return description
    }

    static func update(_ participants: [ParticipantInfo]) -> ParticipantUpdate {
        var update = ParticipantUpdate()
        update.participants = participants
        return update
    }

    static func published(_ cid: String, _ sid: String) -> TrackPublishedResponse {
        var track = TrackInfo()
        track.sid = sid
        var response = TrackPublishedResponse()
        response.cid = cid
        response.track = track
        return response
    }

    /// A description with one audio section that sends.
    static func sdp(msid: String) -> String {
        "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=sendonly\r\na=msid:\(msid)\r\n"
    }

    mutating func publish(_ cid: String) {
        var request = AddTrackRequest()
        request.cid = cid
        send(.publish(request))
    }

    var offersSent: [UInt32] {
        requests.compactMap { if case .offer(let offer) = $0 { offer.id } else { nil } }
    }
    var answersSent: [UInt32] {
        requests.compactMap { if case .answer(let answer) = $0 { answer.id } else { nil } }
    }
    var addedReceivers: Int {
        effects.reduce(0) { if case .addReceivers(let count) = $1 { $0 + count } else { $0 } }
    }
    var leaves: Int { requests.count { if case .leave = $0 { true } else { false } } }
    var cause: DisconnectCause? {
        for case .disconnected(let cause) in events { return cause }
        return nil
    }
}

/// The recorded signal traffic in Tests/Fixtures/captures.
enum Captures {
    struct Frame {
        var connection: Int
        var isServer: Bool
        var bytes: [UInt8]
    }

    static func frames(_ name: String) throws -> [Frame] {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { folder.deleteLastPathComponent() }
        let file = folder.appendingPathComponent("Fixtures/captures/\(name).jsonl")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            guard let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                record["kind"] as? String == "frame", let text = record["base64"] as? String,
                let data = Data(base64Encoded: text)
            else { return nil }
            return Frame(
                connection: record["conn"] as? Int ?? 0, isServer: record["dir"] as? String == "server",
                bytes: [UInt8](data))
        }
    }
}
