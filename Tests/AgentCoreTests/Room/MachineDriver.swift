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
    private var offers = 0

    init(_ configuration: RoomStateMachine.Configuration = .init()) {
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
                case .makeOffer:
                    offers += 1
                    inputs.append(.offerMade(sdp: "offer \(offers)"))
                case .applyAnswer(let sdp): inputs.append(.receiving(Self.receiving(sdp)))
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

    /// Connected to a room as `alice`, over one connection.
    static func joined(_ change: (inout JoinResponse) -> Void = { _ in }) -> MachineDriver {
        var driver = MachineDriver()
        driver.connect()
        var join = JoinResponse()
        var room = LiveKitProtocol.Room()
        room.sid = "RM_1"
        room.name = "demo"
        join.room = room
        join.participant = participant("PA_me", "alice")
        join.pingInterval = 5
        join.pingTimeout = 15
        change(&join)
        driver.receive(.join(join))
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

    var offersSent: [UInt32] {
        requests.compactMap { if case .offer(let offer) = $0 { offer.id } else { nil } }
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
