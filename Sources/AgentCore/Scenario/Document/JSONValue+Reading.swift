import Foundation

extension JSONValue {
    /// The value of a JSON text (RFC 8259); nil when it is none. Members come sorted by name.
    public init?(json text: String) {
        guard let value = try? JSONDecoder().decode(Decoded.self, from: Data(text.utf8)) else { return nil }
        self = value.value
    }

    private struct Decoded: Decodable {
        var value: JSONValue

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                value = .null
            } else if let bool = try? container.decode(Bool.self) {
                value = .bool(bool)
            } else if let integer = try? container.decode(Int64.self) {
                value = .integer(integer)
            } else if let number = try? container.decode(Double.self) {
                value = .number(number)
            } else if let string = try? container.decode(String.self) {
                value = .string(string)
            } else if let array = try? container.decode([Decoded].self) {
                value = .array(array.map(\.value))
            } else {
                let members = try container.decode([String: Decoded].self)
                value = .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.value) })
            }
        }
    }

    /// The value that a node stands for, by YAML 1.2's core schema.
    init(yaml node: YAMLNode) {
        switch node.value {
        case .sequence(let items): self = .array(items.map { JSONValue(yaml: $0) })
        case .mapping(let entries): self = .object(entries.map { ($0.key, JSONValue(yaml: $0.value)) })
        case .scalar(let text, let isPlain):
            if !isPlain {
                self = .string(text)
            } else if node.string == nil {
                self = .null
            } else if text == "true" || text == "false" {
                self = .bool(text == "true")
            } else if let integer = Int64(text) {
                self = .integer(integer)
            } else if let number = Double(text), number.isFinite {
                self = .number(number)
            } else {
                self = .string(text)
            }
        }
    }

    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// Whether this has everything that `pattern` has: objects may have more members, everything else is equal.
    func holds(_ pattern: JSONValue) -> Bool {
        switch (self, pattern) {
        case (.object, .object(let members)):
            members.allSatisfy { name, wanted in self[name]?.holds(wanted) ?? false }
        case (.array(let values), .array(let wanted)):
            values.count == wanted.count && zip(values, wanted).allSatisfy { $0.holds($1) }
        case (.integer, .number), (.number, .integer), (.integer, .integer), (.number, .number):
            number == pattern.number
        default: self == pattern
        }
    }
}
