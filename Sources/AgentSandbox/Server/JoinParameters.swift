import Foundation
import LiveKitProtocol
import WebIO

/// Why a signal connection or its validation is refused.
struct SignalRefusal: Error, Equatable {
    var status: Int
    var reason: String

    var response: HTTPResponse { HTTPResponse(status: status, text: reason) }

    static let invalidToken = SignalRefusal(status: 401, reason: "invalid authorization token")
    static let noPermissions = SignalRefusal(status: 401, reason: "no permissions to access the room")
    static let permissionDenied = SignalRefusal(status: 401, reason: "permissions denied")
    static let identityEmpty = SignalRefusal(status: 400, reason: "identity cannot be empty")
    static let identityTooLong = SignalRefusal(status: 400, reason: "identity is too long")
    static let noRoomName = SignalRefusal(status: 400, reason: "no room name")
    static let roomNameTooLong = SignalRefusal(status: 400, reason: "room name is too long")
    static let joinRequestMissing = SignalRefusal(status: 400, reason: "join_request is required")
    static let joinRequestInvalid = SignalRefusal(status: 400, reason: "cannot unmarshal join request")
    static let tooMany = SignalRefusal(status: 503, reason: "limits exceeded")
}

/// What a client asks for when it opens a signal connection: the query of `/rtc`, or the `join_request` of `/rtc/v1`.
struct JoinParameters: Sendable, Equatable {
    var usesSinglePeerConnection = false
    var client = ClientInfo()
    var autoSubscribe = true
    var reconnect = false
    var participantSid = ""
    var metadata = ""
    var attributes: [String: String] = [:]
    var addTracks: [AddTrackRequest] = []
    var publisherOffer: LiveKitProtocol.SessionDescription?
    var syncState: SyncState?

    /// The largest unpacked join request, in bytes.
    static let maximumJoinRequest = 1 << 20

    /// - Throws: ``SignalRefusal`` when a v1 request has no readable `join_request`.
    init(_ request: HTTPServerRequest) throws(SignalRefusal) {
        guard let encoded = request.query("join_request"), !encoded.isEmpty else {
            guard !request.path.hasPrefix("/rtc/v1") else { throw .joinRequestMissing }
            read(query: request)
            return
        }
        guard let bytes = Self.decodeBase64(encoded), let join = Self.unwrap(bytes) else { throw .joinRequestInvalid }
        usesSinglePeerConnection = true
        client = join.clientInfo ?? ClientInfo()
        // Unset means false here, other than in the query of /rtc.
        autoSubscribe = join.connectionSettings?.autoSubscribe ?? false
        reconnect = join.reconnect
        participantSid = join.participantSid
        metadata = join.metadata
        attributes = join.participantAttributes
        addTracks = Array(join.addTrackRequests.prefix(RoomMember.maximumPendingTracks))
        publisherOffer = join.publisherOffer
        syncState = join.syncState
    }

    private mutating func read(query request: HTTPServerRequest) {
        client.version = request.query("version") ?? ""
        client.protocol = request.query("protocol").flatMap { Int32($0) } ?? 0
        client.clientProtocol = request.query("client_protocol").flatMap { Int32($0) } ?? 0
        client.os = request.query("os") ?? ""
        client.osVersion = request.query("os_version") ?? ""
        client.deviceModel = request.query("device_model") ?? ""
        autoSubscribe = request.query("auto_subscribe").map { $0 == "1" || $0 == "true" } ?? true
        reconnect = request.query("reconnect").map { $0 == "1" || $0 == "true" } ?? false
        participantSid = request.query("sid") ?? ""
        if let encoded = request.query("attributes"), let bytes = Self.decodeBase64(encoded),
            let object = try? JSONDecoder().decode([String: String].self, from: Data(bytes))
        {
            attributes = object
        }
    }

    private static func unwrap(_ bytes: [UInt8]) -> JoinRequest? {
        guard let wrapped = try? WrappedJoinRequest(serializedBytes: bytes) else { return nil }
        switch wrapped.compression {
        case .none:
            return try? JoinRequest(serializedBytes: wrapped.joinRequest)
        case .gzip:
            guard let plain = Gzip.decompress(wrapped.joinRequest, limit: maximumJoinRequest) else { return nil }
            return try? JoinRequest(serializedBytes: plain)
        default:
            return nil
        }
    }

    /// Either alphabet of RFC 4648, with or without padding. A space is a plus sign that was not percent-encoded.
    static func decodeBase64(_ text: String) -> [UInt8]? {
        var bytes = text.utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: " "): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        guard bytes.count % 4 != 1 else { return nil }
        while bytes.count % 4 != 0 { bytes.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(bytes)).map { [UInt8]($0) }
    }
}
