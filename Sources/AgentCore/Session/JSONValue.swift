import LoopCore

/// A JSON value that is about to be written: the members of an object keep their order, and numbers are finite.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([(String, JSONValue)])

    /// The value as one line of JSON (RFC 8259), fit for NDJSON: no raw line breaks or control characters.
    public var line: String {
        var text = ""
        write(to: &text)
        return text
    }

    public static func == (lhs: JSONValue, rhs: JSONValue) -> Bool {
        lhs.line == rhs.line
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.isFinite ? String(value) : "null"
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, (name, value)) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(name, to: &text)
                text += ":"
                value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            // Line separators and controls, C1 included: harmless when the line is shown on a terminal.
            case _
            where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar.value == 0x2028
                || scalar.value == 0x2029:
                let hex = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension JSONValue {
    /// Milliseconds with three decimals, or null.
    static func milliseconds(_ duration: Duration?) -> JSONValue {
        guard let duration else { return .null }
        return .number((duration.inSeconds * 1e6).rounded() / 1e3)
    }

    static func optional(_ string: String?) -> JSONValue {
        string.map(JSONValue.string) ?? .null
    }
}
