import Foundation

/// A JSON Schema, as far as the parameters of tools use it: types, enumerations, members, items, bounds, patterns and
/// combinations. Keywords that would mean more than is checked here are refused rather than ignored.
public struct JSONSchema: Sendable, Equatable {
    /// Why a schema cannot be used.
    public struct Fault: Error, Sendable, Equatable {
        public var message: String
    }

    /// The schema as it was given.
    public let value: JSONValue

    private static let checked: Set<String> = [
        "type", "enum", "const", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
        "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "anyOf", "oneOf", "allOf", "not",
    ]
    /// These say nothing about what is valid.
    private static let annotations: Set<String> = [
        "$schema", "$id", "$comment", "title", "description", "default", "examples", "format", "deprecated",
        "readOnly", "writeOnly",
    ]
    private static let types: Set<String> = ["null", "boolean", "integer", "number", "string", "array", "object"]

    /// - Throws: ``Fault`` where a keyword is unknown or has a value that it cannot have.
    public init(_ value: JSONValue) throws(Fault) {
        try Self.check(value, at: "$")
        self.value = value
    }

    /// What is wrong with a value, with the path to it; nil when it is valid.
    public func problem(with instance: JSONValue) -> String? {
        Self.problem(instance, value, at: "$")
    }

    // MARK: Schemas

    private static func check(_ schema: JSONValue, at path: String) throws(Fault) {
        if case .bool = schema { return }
        guard case .object(let members) = schema else { throw Fault(message: "\(path) has to be an object") }
        for (keyword, value) in members {
            let place = "\(path).\(keyword)"
            guard checked.contains(keyword) || annotations.contains(keyword) else {
                throw Fault(message: "\(place) is not supported")
            }
            try check(keyword, value, at: place)
        }
    }

    private static func check(_ keyword: String, _ value: JSONValue, at place: String) throws(Fault) {
        switch keyword {
        case "type":
            let names = value.items?.map(\.text) ?? [value.text]
            guard names.allSatisfy({ $0.map(types.contains) == true }) else {
                throw Fault(message: "\(place) is none of \(types.sorted().joined(separator: ", "))")
            }
        case "properties":
            guard case .object(let members) = value else { throw Fault(message: "\(place) has to be an object") }
            for (name, schema) in members { try check(schema, at: "\(place).\(name)") }
        case "items", "additionalProperties", "not": try check(value, at: place)
        case "anyOf", "oneOf", "allOf":
            guard let schemas = value.items, !schemas.isEmpty else { throw Fault(message: "\(place) has to be a list") }
            for schema in schemas { try check(schema, at: place) }
        case "required", "enum":
            guard let items = value.items, keyword == "enum" || items.allSatisfy({ $0.text != nil }) else {
                throw Fault(message: "\(place) has to be a list")
            }
        case "pattern":
            guard let text = value.text, (try? NSRegularExpression(pattern: text)) != nil else {
                throw Fault(message: "\(place) is no regular expression")
            }
        case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
            "minLength", "maxLength":
            guard value.number != nil else { throw Fault(message: "\(place) has to be a number") }
        default: break
        }
    }

    // MARK: Instances

    private static func problem(_ instance: JSONValue, _ schema: JSONValue, at path: String) -> String? {
        switch schema {
        case .bool(false): return "\(path) is not allowed"
        case .object(let members):
            for (keyword, value) in members {
                if let problem = problem(instance, keyword, value, schema, at: path) { return problem }
            }
            return nil
        default: return nil
        }
    }

    private static func problem(
        _ instance: JSONValue, _ keyword: String, _ value: JSONValue, _ schema: JSONValue, at path: String
    ) -> String? {
        switch keyword {
        case "type":
            let names = value.items?.compactMap(\.text) ?? [value.text ?? ""]
            guard !names.contains(where: instance.isOfType) else { return nil }
            return "\(path) has to be \(names.joined(separator: " or ")), not \(instance.line)"
        case "enum":
            guard value.items?.contains(where: instance.isSame) == false else { return nil }
            return "\(path) has to be one of \(value.line)"
        case "const": return instance.isSame(as: value) ? nil : "\(path) has to be \(value.line)"
        case "anyOf", "oneOf", "allOf", "not": return combined(instance, keyword, value, at: path)
        default: break
        }
        switch instance {
        case .object(let members): return object(members, keyword, value, schema, at: path)
        case .array(let items): return array(items, keyword, value, at: path)
        case .string(let text): return string(text, keyword, value, at: path)
        case .integer, .number: return instance.number.flatMap { number($0, keyword, value, at: path) }
        case .null, .bool: return nil
        }
    }

    private static func combined(
        _ instance: JSONValue, _ keyword: String, _ value: JSONValue, at path: String
    ) -> String? {
        if keyword == "not" {
            return problem(instance, value, at: path) == nil ? "\(path) is what it may not be" : nil
        }
        let problems = (value.items ?? []).map { problem(instance, $0, at: path) }
        let matches = problems.count { $0 == nil }
        switch keyword {
        case "allOf": return problems.compactMap { $0 }.first
        case "anyOf": return matches > 0 ? nil : problems.compactMap { $0 }.first
        default: return matches == 1 ? nil : "\(path) matches \(matches) of the forms that it may have one of"
        }
    }

    private static func object(
        _ members: [(String, JSONValue)], _ keyword: String, _ value: JSONValue, _ schema: JSONValue, at path: String
    ) -> String? {
        switch keyword {
        case "required":
            let names = Set(members.map(\.0))
            let missing = value.items?.compactMap(\.text).first { !names.contains($0) }
            return missing.map { "\(path).\($0) is missing" }
        case "properties":
            for (name, member) in members {
                guard let schema = value[name] else { continue }
                if let problem = problem(member, schema, at: "\(path).\(name)") { return problem }
            }
        case "additionalProperties":
            for (name, member) in members where schema["properties"]?[name] == nil {
                if let problem = problem(member, value, at: "\(path).\(name)") { return problem }
            }
        default: break
        }
        return nil
    }

    private static func array(
        _ items: [JSONValue], _ keyword: String, _ value: JSONValue, at path: String
    ) -> String? {
        switch keyword {
        case "items":
            for (index, item) in items.enumerated() {
                if let problem = problem(item, value, at: "\(path)[\(index)]") { return problem }
            }
            return nil
        case "minItems": return isBelow(items.count, value) ? "\(path) needs at least \(value.line) items" : nil
        case "maxItems": return isAbove(items.count, value) ? "\(path) may have at most \(value.line) items" : nil
        default: return nil
        }
    }

    private static func string(_ text: String, _ keyword: String, _ value: JSONValue, at path: String) -> String? {
        switch keyword {
        // Characters are code points here (RFC 8259).
        case "minLength":
            return isBelow(text.unicodeScalars.count, value) ? "\(path) is shorter than \(value.line)" : nil
        case "maxLength":
            return isAbove(text.unicodeScalars.count, value) ? "\(path) is longer than \(value.line)" : nil
        case "pattern":
            guard let pattern = value.text, let expression = try? NSRegularExpression(pattern: pattern) else {
                return nil
            }
            let range = NSRange(text.startIndex..., in: text)
            return expression.firstMatch(in: text, range: range) == nil ? "\(path) does not match \(pattern)" : nil
        default: return nil
        }
    }

    private static func number(_ number: Double, _ keyword: String, _ value: JSONValue, at path: String) -> String? {
        guard let bound = value.number else { return nil }
        switch keyword {
        case "minimum": return number < bound ? "\(path) is less than \(value.line)" : nil
        case "maximum": return number > bound ? "\(path) is more than \(value.line)" : nil
        case "exclusiveMinimum": return number <= bound ? "\(path) has to be more than \(value.line)" : nil
        case "exclusiveMaximum": return number >= bound ? "\(path) has to be less than \(value.line)" : nil
        case "multipleOf":
            guard bound > 0 else { return nil }
            let quotient = number / bound
            return abs(quotient - quotient.rounded()) > 1e-9 ? "\(path) is no multiple of \(value.line)" : nil
        default: return nil
        }
    }

    private static func isBelow(_ count: Int, _ bound: JSONValue) -> Bool { Double(count) < (bound.number ?? 0) }
    private static func isAbove(_ count: Int, _ bound: JSONValue) -> Bool {
        Double(count) > (bound.number ?? .infinity)
    }
}

extension JSONValue {
    fileprivate var items: [JSONValue]? {
        if case .array(let items) = self { items } else { nil }
    }

    fileprivate func isOfType(_ name: String) -> Bool {
        switch (name, self) {
        case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .number),
            ("string", .string), ("array", .array), ("object", .object):
            true
        case ("integer", .number(let value)): value == value.rounded()
        default: false
        }
    }

    /// Equal as JSON: 1 and 1.0 are the same number, and the order of members does not matter.
    fileprivate func isSame(as other: JSONValue) -> Bool { holds(other) && other.holds(self) }
}
