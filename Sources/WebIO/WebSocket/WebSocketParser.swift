/// Takes bytes as they arrive and gives whole messages and control frames (RFC 6455, sections 5 and 8). Pure.
///
/// Memory is bounded: a message that grows beyond the limit is refused when the header of the frame that exceeds it
/// has been read, before its payload is stored.
struct WebSocketParser {
    enum Output: Sendable, Equatable {
        case text(String)
        case binary([UInt8])
        case ping([UInt8])
        case pong([UInt8])
        /// `code` is 1005 when the frame had none.
        case close(code: Int, reason: String)
    }

    /// Why the connection must be failed, with the close code to send.
    struct Failure: Error, Equatable {
        var code: Int
        var reason: String
        var isTooLarge = false
    }

    private let maxMessageSize: Int
    /// Whether frames must be masked: a client masks, a server does not.
    private let expectsMask: Bool
    private var buffer: [UInt8] = []
    private var position = 0
    /// The data message under way.
    private var messageOpcode: WebSocketOpcode?
    private var message: [UInt8] = []

    init(maxMessageSize: Int, expectsMask: Bool) {
        self.maxMessageSize = maxMessageSize
        self.expectsMask = expectsMask
    }

    mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 {
            buffer.removeFirst(position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next complete message or control frame; `nil` until more bytes arrive.
    mutating func next() throws(Failure) -> Output? {
        while let header = try header() {
            guard buffer.count - position - header.size >= header.length else { return nil }
            let payload = takePayload(header)
            if let output = try accept(header, payload) { return output }
        }
        return nil
    }

    // MARK: Frames

    private struct Header {
        var isFinal: Bool
        var opcode: WebSocketOpcode
        var mask: UInt32?
        var length: Int
        var size: Int
    }

    private func header() throws(Failure) -> Header? {
        let available = buffer.count - position
        guard available >= 2 else { return nil }
        let first = buffer[position]
        let second = buffer[position + 1]
        guard first & 0x70 == 0 else { throw violation("a reserved bit is set") }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
            throw violation("the opcode \(first & 0x0F) is not defined")
        }
        let isFinal = first & 0x80 != 0
        let isMasked = second & 0x80 != 0
        guard isMasked == expectsMask else {
            throw violation(expectsMask ? "a client's frame is not masked" : "a server's frame is masked")
        }
        if opcode.isControl {
            guard isFinal else { throw violation("a control frame is fragmented") }
            guard second & 0x7F <= 125 else { throw violation("a control frame is longer than 125 bytes") }
        }
        guard let (length, lengthSize) = try length(second & 0x7F, available) else { return nil }
        if !opcode.isControl {
            try check(opcode)
            guard length <= UInt64(maxMessageSize - message.count) else {
                throw Failure(
                    code: 1009, reason: "a message is larger than \(maxMessageSize) bytes", isTooLarge: true)
            }
        }
        let size = 2 + lengthSize + (isMasked ? 4 : 0)
        guard available >= size else { return nil }
        var mask: UInt32?
        if isMasked {
            mask = buffer[(position + size - 4)..<(position + size)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        return Header(isFinal: isFinal, opcode: opcode, mask: mask, length: Int(length), size: size)
    }

    /// The payload length and the size of the extended field; `nil` until that is there.
    private func length(_ short: UInt8, _ available: Int) throws(Failure) -> (UInt64, Int)? {
        let size = short == 126 ? 2 : short == 127 ? 8 : 0
        guard size > 0 else { return (UInt64(short), 0) }
        guard available >= 2 + size else { return nil }
        let length = buffer[(position + 2)..<(position + 2 + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length > (size == 2 ? 125 : 0xFFFF), length >> 63 == 0 else {
            throw violation("a frame's length is not in its shortest form")
        }
        return (length, size)
    }

    private func check(_ opcode: WebSocketOpcode) throws(Failure) {
        if opcode == .continuation {
            guard messageOpcode != nil else { throw violation("a continuation without a message") }
        } else {
            guard messageOpcode == nil else { throw violation("a new message inside another") }
        }
    }

    private mutating func takePayload(_ header: Header) -> [UInt8] {
        let start = position + header.size
        var payload = Array(buffer[start..<(start + header.length)])
        if let mask = header.mask { WebSocketFrame.unmask(&payload, from: 0, key: mask) }
        position = start + header.length
        if position == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 64 << 10)
            position = 0
        }
        return payload
    }

    // MARK: Messages

    private mutating func accept(_ header: Header, _ payload: [UInt8]) throws(Failure) -> Output? {
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        case .close: return try close(payload)
        case .text, .binary: messageOpcode = header.opcode
        case .continuation: break
        }
        if message.isEmpty { message = payload } else { message += payload }
        guard header.isFinal, let opcode = messageOpcode else { return nil }
        let whole = message
        message = []
        messageOpcode = nil
        guard opcode == .text else { return .binary(whole) }
        guard let text = String(validating: whole, as: UTF8.self) else {
            throw Failure(code: 1007, reason: "a text message is not UTF-8")
        }
        return .text(text)
    }

    private func close(_ payload: [UInt8]) throws(Failure) -> Output {
        guard !payload.isEmpty else { return .close(code: 1005, reason: "") }
        guard payload.count >= 2 else { throw violation("a close frame of one byte") }
        let code = Int(payload[0]) << 8 | Int(payload[1])
        guard WebSocketFrame.isValidCloseCode(code) else { throw violation("the close code \(code) is not valid") }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw Failure(code: 1007, reason: "a close reason is not UTF-8")
        }
        return .close(code: code, reason: reason)
    }

    private func violation(_ reason: String) -> Failure {
        Failure(code: 1002, reason: reason)
    }
}
