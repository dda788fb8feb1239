import LiveKitProtocol

/// Why a remote procedure call failed: the codes that every LiveKit client knows, or one of the callee's own.
public struct RPCError: Error, Sendable, Equatable, CustomStringConvertible {
    public var code: UInt32
    public var message: String
    /// More about it, for programs.
    public var data: String

    /// Message and data are cut to what a packet may hold: 256 and 15,360 bytes.
    public init(code: UInt32, message: String, data: String = "") {
        self.code = code
        self.message = Self.cut(message, to: 256)
        self.data = Self.cut(data, to: RPCEndpoint.maximumPayload)
    }

    init(_ error: RpcError) {
        self.init(code: error.code, message: error.message, data: error.data)
    }

    public static let unsupportedMethod = RPCError(code: 1400, message: "Method not supported at destination")
    public static let recipientNotFound = RPCError(code: 1401, message: "Recipient not found")
    public static let requestPayloadTooLarge = RPCError(code: 1402, message: "Request payload too large")
    public static let unsupportedVersion = RPCError(code: 1404, message: "Unsupported RPC version")
    public static let applicationError = RPCError(code: 1500, message: "Application error in method handler")
    public static let connectionTimeout = RPCError(code: 1501, message: "Connection timeout")
    public static let responseTimeout = RPCError(code: 1502, message: "Response timeout")
    public static let recipientDisconnected = RPCError(code: 1503, message: "Recipient disconnected")
    public static let responsePayloadTooLarge = RPCError(code: 1504, message: "Response payload too large")
    public static let sendFailed = RPCError(code: 1505, message: "Failed to send")

    public var description: String {
        let hint: String
        switch code {
        case 1400: hint = ". Check the method's name, and that it is registered there"
        case 1401, 1503: hint = ". Check that the participant is in the room"
        case 1402, 1504: hint = "; at most \(RPCEndpoint.maximumPayload) bytes go. Send data streams instead"
        case 1501: hint = ": it did not confirm the call. It may be too busy, or an old client"
        case 1502: hint = ": it took the call and gave no answer. Allow it more time, or look at its log"
        default: hint = ""
        }
        return "\(message) (RPC error \(code))\(hint)"
    }

    /// At most so many bytes of UTF-8, cut between characters.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var size = 0
        return String(
            text.prefix {
                size += $0.utf8.count
                return size <= limit
            })
    }
}
