import Foundation

// From JSON to the wire format, by what the messages declare.

extension ProtobufEncoder {
    /// Writes the members of a JSON object as a message of the given type.
    mutating func message(
        _ type: any ProtobufMessage.Type, _ members: [String: JSONNode]
    ) throws(ProtobufJSONError) {
        var oneofs: Set<String> = []
        for field in type.declarations {
            guard let value = members[field.jsonName] ?? members[field.name], value != .null else { continue }
            let name = "\(type.protoMessageName).\(field.name)"
            if let oneof = field.oneof, !oneofs.insert(oneof).inserted {
                throw .ambiguous(oneof: "\(type.protoMessageName).\(oneof)")
            }
            switch field.label {
            case .singular, .optional: try self.field(field.number, field.type, value, name)
            case .repeated:
                guard let elements = value.elements else { throw .mismatch(field: name, expected: "array") }
                for element in elements { try self.field(field.number, field.type, element, name) }
            case .map:
                guard let entries = value.members else { throw .mismatch(field: name, expected: "object") }
                for (key, value) in entries {
                    var entry = ProtobufEncoder()
                    try entry.field(1, field.keyType ?? .string, .string(key), name)
                    try entry.field(2, field.type, value, name)
                    tag(field.number, .lengthDelimited)
                    delimited(entry.bytes)
                }
            }
        }
    }

    private mutating func field(
        _ number: Int, _ type: ProtobufType, _ value: JSONNode, _ name: String
    ) throws(ProtobufJSONError) {
        let mismatch = ProtobufJSONError.mismatch(field: name, expected: type.name)
        tag(number, type.wireType)
        switch type {
        case .bool:
            guard case .bool(let value) = value else { throw mismatch }
            varint(value ? 1 : 0)
        case .int32:
            guard let value = value.integer(Int32.self) else { throw mismatch }
            varint(UInt64(bitPattern: Int64(value)))
        case .int64:
            guard let value = value.integer(Int64.self) else { throw mismatch }
            varint(UInt64(bitPattern: value))
        case .uint32:
            guard let value = value.integer(UInt32.self) else { throw mismatch }
            varint(UInt64(value))
        case .uint64:
            guard let value = value.integer(UInt64.self) else { throw mismatch }
            varint(value)
        case .float:
            guard let value = value.float else { throw mismatch }
            fixed32(value.bitPattern)
        case .string:
            guard case .string(let value) = value else { throw mismatch }
            delimited(value)
        case .bytes:
            guard case .string(let text) = value, let value = Self.bytes(base64: text) else { throw mismatch }
            delimited(value)
        case .enumeration(let type):
            guard let value = Self.number(of: value, in: type) else { throw mismatch }
            varint(UInt64(bitPattern: Int64(value)))
        case .message(let type):
            var content = ProtobufEncoder()
            if type == Timestamp.self {
                guard case .string(let text) = value, let time = Timestamp(rfc3339: text) else { throw mismatch }
                time.encode(into: &content)
            } else {
                guard let members = value.members else { throw mismatch }
                try content.message(type, members)
            }
            delimited(content.bytes)
        }
    }

    private static func number<Value: ProtobufEnum>(of value: JSONNode, in type: Value.Type) -> Int32? {
        guard case .string(let name) = value else { return value.integer(Int32.self) }
        return Value(protoName: name)?.rawValue
    }

    /// Either alphabet of RFC 4648, with padding or without.
    private static func bytes(base64 text: String) -> [UInt8]? {
        var standard = text.replacing("-", with: "+").replacing("_", with: "/")
        while standard.utf8.count % 4 != 0 { standard += "=" }
        return Data(base64Encoded: standard).map { [UInt8]($0) }
    }
}

extension JSONNode {
    /// A whole number that fits, written as a number or as a string.
    fileprivate func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        switch self {
        case .integer(let value): Value(exactly: value)
        case .unsigned(let value): Value(exactly: value)
        case .number(let value): Value(exactly: value)
        case .string(let text): Value(text)
        default: nil
        }
    }

    fileprivate var float: Float? {
        switch self {
        case .integer(let value): return Float(value)
        case .unsigned(let value): return Float(value)
        case .number(let value):
            let float = Float(value)
            return float.isFinite ? float : nil
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        case .string(let text): return Float(text).flatMap { $0.isFinite ? $0 : nil }
        default: return nil
        }
    }
}

extension Timestamp {
    /// A time such as `2026-01-31T12:00:00.5Z` (RFC 3339); nil when it is not one.
    fileprivate init?(rfc3339 text: String) {
        var whole = text
        var nanos: Int32 = 0
        if let point = text.firstIndex(of: ".") {
            let decimals = text[text.index(after: point)...].prefix { $0.isASCII && $0.isNumber }
            guard (1...9).contains(decimals.count),
                let value = Int32(decimals + String(repeating: "0", count: 9 - decimals.count))
            else { return nil }
            nanos = value
            whole.removeSubrange(point..<decimals.endIndex)
        }
        guard let date = try? Date(whole, strategy: .iso8601) else { return nil }
        self.init()
        seconds = Int64(date.timeIntervalSince1970)
        self.nanos = nanos
    }
}
