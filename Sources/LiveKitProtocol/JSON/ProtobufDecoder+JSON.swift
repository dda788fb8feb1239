import Foundation

// From the wire format to JSON, by what the messages declare.

extension ProtobufDecoder {
    /// The rest of the bytes, a message of the given type, as a JSON value.
    mutating func json(_ type: any ProtobufMessage.Type) throws(ProtobufError) -> JSONNode {
        if type == Timestamp.self { return try timestamp() }
        let declarations = type.declarations
        var members: [String: JSONNode] = [:]
        while !isAtEnd {
            let (number, wireType) = try tag()
            guard let field = declarations.first(where: { $0.number == number }) else {
                try skip(wireType, number: number)
                continue
            }
            let name = field.jsonName
            switch field.label {
            case .singular, .optional: members[name] = try json(field.type)
            case .map:
                var entries = members[name]?.members ?? [:]
                members[name] = nil
                let (key, value) = try entry(field)
                entries[key] = value
                members[name] = .object(entries)
            case .repeated:
                var elements = members[name]?.elements ?? []
                members[name] = nil
                if field.type.isPackable {
                    try nested { content throws(ProtobufError) in
                        while !content.isAtEnd { elements.append(try content.json(field.type)) }
                    }
                } else {
                    elements.append(try json(field.type))
                }
                members[name] = .array(elements)
            }
        }
        return .object(members)
    }

    private mutating func json(_ type: ProtobufType) throws(ProtobufError) -> JSONNode {
        switch type {
        case .bool: return .bool(try varint() != 0)
        case .int32: return .integer(Int64(Int32(truncatingIfNeeded: try varint())))
        case .uint32: return .integer(Int64(UInt32(truncatingIfNeeded: try varint())))
        // 64-bit numbers are strings, since JSON numbers are doubles to many readers.
        case .int64: return .string(String(Int64(bitPattern: try varint())))
        case .uint64: return .string(String(try varint()))
        case .float: return Self.number(Float(bitPattern: try fixed32()))
        case .string: return .string(try string())
        case .bytes: return .string(Data(try delimited()).base64EncodedString())
        case .enumeration(let type): return Self.enumeration(type, Int32(truncatingIfNeeded: try varint()))
        case .message(let type):
            var value = JSONNode.null
            try nested { content throws(ProtobufError) in value = try content.json(type) }
            return value
        }
    }

    /// A map's entry: its key as a string, and its value.
    private mutating func entry(_ field: ProtobufDeclaration) throws(ProtobufError) -> (String, JSONNode) {
        var key = ""
        var value = JSONNode.null
        try nested { entry throws(ProtobufError) in
            while !entry.isAtEnd {
                let (number, wireType) = try entry.tag()
                if number == 1, field.keyType?.wireType == wireType {
                    key = wireType == .varint ? String(try entry.varint()) : try entry.string()
                } else if number == 2, field.type.wireType == wireType {
                    value = try entry.json(field.type)
                } else {
                    try entry.skip(wireType, number: number)
                }
            }
        }
        return (key, value)
    }

    private static func enumeration<Value: ProtobufEnum>(_ type: Value.Type, _ number: Int32) -> JSONNode {
        let value = Value(rawValue: number)
        return value.unrecognizedNumber == nil ? .string(value.protoName) : .integer(Int64(number))
    }

    /// A float as the shortest number that reads back as the same float; what JSON has no number for is a string.
    private static func number(_ value: Float) -> JSONNode {
        if value.isNaN { return .string("NaN") }
        if value.isInfinite { return .string(value < 0 ? "-Infinity" : "Infinity") }
        return .number(Double(value.description) ?? Double(value))
    }

    /// `google.protobuf.Timestamp`, in JSON an RFC 3339 string with no, three, six or nine decimals; null when it is
    /// not in the years 1 to 9999, which is all that RFC 3339 has.
    private mutating func timestamp() throws(ProtobufError) -> JSONNode {
        var time = Timestamp()
        try time.merge(from: &self)
        guard (-62_135_596_800...253_402_300_799).contains(time.seconds), (0..<1_000_000_000).contains(time.nanos)
        else { return .null }
        let date = Date(timeIntervalSince1970: TimeInterval(time.seconds))
        let seconds = date.formatted(.iso8601).dropLast()
        guard time.nanos > 0 else { return .string(seconds + "Z") }
        let digits = String(String(1_000_000_000 + Int64(time.nanos)).dropFirst())
        let kept = digits.hasSuffix("000000") ? 3 : digits.hasSuffix("000") ? 6 : 9
        return .string("\(seconds).\(digits.prefix(kept))Z")
    }
}
