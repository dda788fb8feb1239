import LoopCore
import WebIO

/// The signal endpoints: `/rtc` and `/rtc/v1` with their validation. Confined to the loop.
final class SignalEndpoints {
    private let context: RoomContext
    private(set) var rooms: [String: SandboxRoom] = [:]

    init(context: RoomContext) {
        self.context = context
    }

    func install(on server: HTTPServer) {
        for path in ["/rtc", "/rtc/v1"] {
            server.handle(path: path + "/validate") { [weak self] request, responder in
                guard let self else { return }
                responder.respond(self.refusal(of: request)?.response ?? HTTPResponse(status: 200, text: "success"))
            }
            server.acceptWebSockets(
                path: path, authorize: { [weak self] in self?.refusal(of: $0)?.response },
                accept: { [weak self] in self?.accept($0, $1) })
        }
        server.handle(path: "/") { request, responder in
            let isRoot = request.path == "/"
            responder.respond(HTTPResponse(status: isRoot ? 200 : 404, text: isRoot ? "OK" : "404 page not found"))
        }
    }

    /// Why a client is not let in; nil when it is.
    private func refusal(of request: HTTPServerRequest) -> SignalRefusal? {
        if let status = context.faults.signalStatus {
            return SignalRefusal(status: status, reason: "this server was told to refuse connections")
        }
        if context.faults.refusesSinglePeerConnection, request.path.hasPrefix("/rtc/v1") {
            return SignalRefusal(status: 404, reason: "404 page not found")
        }
        do throws(SignalRefusal) {
            let (grants, parameters) = try admit(request)
            guard let room = rooms[grants.room] else {
                return rooms.count < context.configuration.maxRooms ? nil : .tooMany
            }
            let isFull = room.members.count >= context.configuration.maxParticipants
            return isFull && !parameters.reconnect && room.member(grants.identity) == nil ? .tooMany : nil
        } catch {
            return error
        }
    }

    /// The checks in the order in which LiveKit's server makes them.
    private func admit(_ request: HTTPServerRequest) throws(SignalRefusal) -> (JoinGrants, JoinParameters) {
        let token = request.bearerToken ?? request.query("access_token")
        let grants = try token.map { token throws(SignalRefusal) in try context.tokens.verify(token) }
        let parameters = try JoinParameters(request)
        guard let grants else { throw .noPermissions }
        try grants.checkJoin()
        return (grants, parameters)
    }

    private func accept(_ socket: WebSocket, _ request: HTTPServerRequest) {
        guard let (grants, parameters) = try? admit(request) else { return socket.close(code: 1008, reason: "") }
        if parameters.reconnect {
            guard let room = rooms[grants.room], let member = room.member(grants.identity),
                member.sid == parameters.participantSid
            else { return refuseResume(socket) }
            return room.resume(member, parameters, socket: socket)
        }
        let room = rooms[grants.room] ?? SandboxRoom(name: grants.room, context: context)
        rooms[grants.room] = room
        room.join(parameters, grants: grants, socket: socket)
    }

    /// The session to resume is not there any more: the client has to join anew.
    private func refuseResume(_ socket: WebSocket) {
        socket.onEvent = nil
        socket.send(binary: SandboxRoom.stateMismatch)
        socket.close(code: 1000, reason: "")
    }

    func remove(_ room: SandboxRoom) {
        if rooms[room.name] === room { rooms[room.name] = nil }
    }

    /// Sends everybody away.
    /// - Returns: whether there was anybody.
    func deleteAll() -> Bool {
        let all = rooms.values
        for room in all { room.delete(reason: .serverShutdown) }
        rooms = [:]
        return !all.isEmpty
    }
}
