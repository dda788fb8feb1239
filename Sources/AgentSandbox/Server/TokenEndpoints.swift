import Foundation
import LoopCore
import WebIO

/// The token endpoints: the sandbox's of LiveKit Cloud in both versions, and the generic contract of token servers.
/// Confined to the loop.
final class TokenEndpoints {
    private let context: RoomContext
    private let port: UInt16
    private var delayed: [UInt64: LoopTimer] = [:]
    private var nextDelayed: UInt64 = 0
    /// Answers that are held back at most, when the endpoint is told to be slow.
    private static let maximumDelayed = 256

    /// Names of the members of requests and answers.
    private enum Spelling {
        case camelCase, snakeCase
    }

    init(context: RoomContext, port: UInt16) {
        self.context = context
        self.port = port
    }

    /// What the client joins. A server on all addresses is known to the client by the name that it used.
    private func serverURL(for request: HTTPServerRequest) -> String {
        let address = context.configuration.address
        guard ["0.0.0.0", "::"].contains(address) else {
            return "ws://\(address.contains(":") ? "[\(address)]" : address):\(port)"
        }
        let host = request.headers["Host"] ?? ""
        let isPlain =
            !host.isEmpty
            && host.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || "0123456789.:-[]".utf8.contains(byte)
            }
        return isPlain ? "ws://\(host)" : "ws://127.0.0.1:\(port)"
    }

    func install(on server: HTTPServer) {
        server.handle(path: "/api/sandbox/connection-details") { [weak self] request, responder in
            self?.serve(request, responder, .camelCase, isSandbox: true)
        }
        server.handle(path: "/api/v2/sandbox/connection-details") { [weak self] request, responder in
            self?.serve(request, responder, .snakeCase, isSandbox: true)
        }
        server.handle(path: "/token") { [weak self] request, responder in
            self?.serve(request, responder, .snakeCase, isSandbox: false)
        }
    }

    private func serve(
        _ request: HTTPServerRequest, _ responder: HTTPResponder, _ spelling: Spelling, isSandbox: Bool
    ) {
        let response = answer(request, spelling, isSandbox: isSandbox)
        let delay = context.faults.tokenDelay
        guard delay > .zero, delayed.count < Self.maximumDelayed else { return responder.respond(response) }
        let number = nextDelayed
        nextDelayed += 1
        delayed[number] = context.loop.schedule(after: delay) { [weak self] in
            self?.delayed[number] = nil
            responder.respond(response)
        }
    }

    private func answer(_ request: HTTPServerRequest, _ spelling: Spelling, isSandbox: Bool) -> HTTPResponse {
        switch context.faults.token {
        case .status(let status):
            var response = Self.failure(status, "this server was told to refuse tokens")
            if status == 429 { response.headers.add("Retry-After", "1") }
            return response
        case .html:
            return HTTPResponse(
                status: 200, text: "<!DOCTYPE html><html><body>Please sign in to this network.</body></html>",
                contentType: "text/html; charset=utf-8")
        case .missingFields: return Self.json(200, ["roomName": "incomplete"])
        case nil: break
        }
        guard ["POST", "GET"].contains(request.method), !isSandbox || request.method == "POST" else {
            var response = Self.failure(405, "use POST")
            response.headers.add("Allow", isSandbox ? "POST" : "GET, POST")
            return response
        }
        if isSandbox, let expected = context.configuration.sandboxID {
            guard let id = request.headers["X-Sandbox-ID"], !id.isEmpty else {
                return Self.failure(400, "the header X-Sandbox-ID is missing")
            }
            guard id == expected else { return Self.failure(404, "the sandbox does not exist") }
        }
        var body: [String: Any] = [:]
        if request.body.contains(where: { $0 > 0x20 }) {
            guard let object = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any] else {
                return Self.failure(400, "the body is not a JSON object")
            }
            body = object
        }
        return mint(RequestedToken(request, body), spelling, serverURL: serverURL(for: request))
    }

    private func mint(_ wanted: RequestedToken, _ spelling: Spelling, serverURL: String) -> HTTPResponse {
        var grants = JoinGrants()
        let suffix = String(ServerIdentity.makeID("").prefix(6))
        grants.room = wanted.room ?? "sandbox-\(suffix)"
        grants.identity = wanted.identity ?? wanted.name ?? "user-\(suffix)"
        grants.name = wanted.name ?? grants.identity
        grants.metadata = wanted.metadata ?? ""
        grants.attributes = wanted.attributes
        grants.roomJoin = true
        grants.hasVideo = true
        grants.canUpdateOwnMetadata = true
        grants.dispatches = wanted.dispatches
        do {
            try grants.checkJoin()
        } catch {
            return Self.failure(400, error.reason)
        }
        guard let token = try? context.tokens.mint(grants) else {
            return Self.failure(500, "the token could not be made")
        }
        context.log("token for \(grants.identity) in \(grants.room)")
        switch spelling {
        case .camelCase:
            return Self.json(
                200,
                [
                    "serverUrl": serverURL, "roomName": grants.room, "participantName": grants.name,
                    "participantToken": token,
                ])
        case .snakeCase:
            return Self.json(
                200,
                [
                    "server_url": serverURL, "room_name": grants.room, "participant_name": grants.name,
                    "participant_token": token,
                ])
        }
    }

    private static func failure(_ status: Int, _ message: String) -> HTTPResponse {
        json(status, ["error": message])
    }

    private static func json(_ status: Int, _ object: [String: String]) -> HTTPResponse {
        let data = (try? JSONEncoder().encode(object)) ?? Data("{}".utf8)
        return HTTPResponse(
            status: status, text: String(decoding: data, as: UTF8.self), contentType: "application/json")
    }
}

/// What a token request asks for: in the query or the body, in either spelling.
struct RequestedToken {
    var room: String?
    var name: String?
    var identity: String?
    var metadata: String?
    var attributes: [String: String] = [:]
    var dispatches: [JoinGrants.AgentDispatch] = []

    init(_ request: HTTPServerRequest, _ body: [String: Any]) {
        func value(_ snake: String, _ camel: String) -> Any? { body[snake] ?? body[camel] }
        func text(_ snake: String, _ camel: String) -> String? {
            let text = value(snake, camel) as? String ?? request.query(camel) ?? request.query(snake)
            return text?.isEmpty == true ? nil : text
        }
        room = text("room_name", "roomName")
        name = text("participant_name", "participantName")
        identity = text("participant_identity", "participantIdentity")
        metadata = text("participant_metadata", "participantMetadata")
        attributes = value("participant_attributes", "participantAttributes") as? [String: String] ?? [:]
        let config = value("room_config", "roomConfig") as? [String: Any]
        dispatches = JoinGrants(claims: ["roomConfig": config ?? [:]]).dispatches
    }
}
