import Testing

@testable import AgentCore

@Suite struct JSONSchemaTests {
    private func schema(_ text: String) throws -> JSONSchema {
        try JSONSchema(try #require(JSONValue(json: text)))
    }

    private func problem(_ schema: String, _ instance: String) throws -> String? {
        try self.schema(schema).problem(with: try #require(JSONValue(json: instance)))
    }

    /// Schema, what is valid by it, what is not, and the path that the message names.
    @Test(arguments: [
        (#"{"type":"string"}"#, #""a""#, "1", "$"),
        (#"{"type":["string","null"]}"#, "null", "true", "$"),
        (#"{"type":"integer"}"#, "3.0", "3.5", "$"),
        (#"{"enum":["a",1]}"#, "1", #""b""#, "$"),
        (#"{"const":{"a":1,"b":2}}"#, #"{"b":2,"a":1}"#, #"{"a":1}"#, "$"),
        (#"{"required":["a"]}"#, #"{"a":0}"#, "{}", "$.a"),
        (#"{"properties":{"a":{"type":"number"}}}"#, #"{"a":1,"x":0}"#, #"{"a":"1"}"#, "$.a"),
        (#"{"properties":{"a":true},"additionalProperties":false}"#, #"{"a":1}"#, #"{"b":1}"#, "$.b"),
        (#"{"items":{"minimum":2}}"#, "[2,3]", "[2,1]", "$[1]"),
        (#"{"minItems":1,"maxItems":2}"#, "[1]", "[1,2,3]", "$"),
        (#"{"minLength":2,"maxLength":3}"#, #""äö""#, #""ä""#, "$"),
        (#"{"pattern":"^[a-z]+$"}"#, #""abc""#, #""aBc""#, "$"),
        (#"{"exclusiveMinimum":0,"maximum":1}"#, "1", "0", "$"),
        (#"{"multipleOf":0.1}"#, "0.3", "0.35", "$"),
        (#"{"anyOf":[{"type":"string"},{"minimum":5}]}"#, "6", "4", "$"),
        (#"{"oneOf":[{"minimum":5},{"maximum":7}]}"#, "8", "6", "$"),
        (#"{"allOf":[{"minimum":5},{"maximum":7}]}"#, "6", "8", "$"),
        (#"{"not":{"type":"null"}}"#, "0", "null", "$"),
    ])
    func keywords(schema: String, valid: String, invalid: String, path: String) throws {
        #expect(try problem(schema, valid) == nil)
        let message = try #require(try problem(schema, invalid))
        #expect(message.hasPrefix(path + " "))
    }

    /// What is not checked is refused: a schema that seems to protect and does not would be worse than none.
    @Test(arguments: [
        "[]", #"{"type":"text"}"#, #"{"pattern":"("}"#, ##"{"$ref":"#/x"}"##, #"{"minimum":"1"}"#, #"{"required":"a"}"#,
        #"{"properties":{"a":{"if":{}}}}"#, #"{"anyOf":[]}"#,
    ])
    func unusableSchemas(text: String) throws {
        #expect(throws: JSONSchema.Fault.self) { try schema(text) }
    }
}
