/// Payload protocol identifiers of data channels (RFC 8831, section 8).
enum DataChannelPPID {
    static let dcep: UInt32 = 50
    static let string: UInt32 = 51
    static let binary: UInt32 = 53
    static let emptyString: UInt32 = 56
    static let emptyBinary: UInt32 = 57
}

/// A message of the Data Channel Establishment Protocol (RFC 8832).
enum DCEPMessage: Sendable, Equatable {
    case open(Open)
    case acknowledge

    struct Open: Sendable, Equatable {
        var label: String
        var `protocol`: String
        var ordered: Bool
        var maxRetransmits: UInt16?
        /// Milliseconds.
        var maxPacketLifetime: UInt16?
    }

    private static let acknowledgeType: UInt8 = 0x02
    private static let openType: UInt8 = 0x03
    private static let unorderedFlag: UInt8 = 0x80

    /// Nil when malformed, or of a channel type or message type that does not exist.
    init?(_ bytes: [UInt8]) {
        guard let type = bytes.first else { return nil }
        if type == Self.acknowledgeType {
            self = .acknowledge
            return
        }
        guard type == Self.openType, bytes.count >= 12 else { return nil }
        let labelLength = Int(bytes[8]) << 8 | Int(bytes[9])
        let protocolLength = Int(bytes[10]) << 8 | Int(bytes[11])
        guard bytes.count >= 12 + labelLength + protocolLength else { return nil }
        let parameter = bytes[4..<8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var open = Open(
            label: String(decoding: bytes[12..<(12 + labelLength)], as: UTF8.self),
            protocol: String(decoding: bytes[(12 + labelLength)...].prefix(protocolLength), as: UTF8.self),
            ordered: bytes[1] & Self.unorderedFlag == 0)
        switch bytes[1] & ~Self.unorderedFlag {
        case 0: break
        case 1: open.maxRetransmits = UInt16(clamping: parameter)
        case 2: open.maxPacketLifetime = UInt16(clamping: parameter)
        default: return nil
        }
        self = .open(open)
    }

    var bytes: [UInt8] {
        guard case .open(let open) = self else { return [Self.acknowledgeType] }
        var type: UInt8 = 0
        var parameter: UInt16 = 0
        if let count = open.maxRetransmits {
            type = 1
            parameter = count
        } else if let lifetime = open.maxPacketLifetime {
            type = 2
            parameter = lifetime
        }
        let label = Array(open.label.utf8.prefix(Int(UInt16.max)))
        let subprotocol = Array(open.protocol.utf8.prefix(Int(UInt16.max)))
        // The priority of 256 is "normal" (RFC 8832, section 5.1; RFC 8831, section 6.4).
        return [Self.openType, open.ordered ? type : type | Self.unorderedFlag, 1, 0, 0, 0]
            + Self.bigEndian(parameter) + Self.bigEndian(UInt16(label.count))
            + Self.bigEndian(UInt16(subprotocol.count))
            + label + subprotocol
    }

    private static func bigEndian(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }
}
