import AgentCore
import Testing

@Suite struct YAMLTests {
    @Test func valuesAndPlaces() throws {
        let node = try YAMLNode.parse(
            "name: demo\ncount: 3\non: yes\nquoted: \"7\"\nlist:\n  - a\n  - {b: 1.5}\nnothing: ~\n")
        #expect(node["name"]?.string == "demo")
        #expect(node["count"]?.int == 3)
        #expect(node["on"]?.bool == true)
        #expect(node["quoted"]?.int == nil && node["quoted"]?.string == "7")
        #expect(node["list"]?.items?[1]["b"]?.double == 1.5)
        #expect(node["nothing"] != nil && node["nothing"]?.string == nil)
        #expect(node["list"]?.items?[1].place == YAMLPlace(line: 7, column: 5))
        #expect(try YAMLNode.parse("").entries?.isEmpty == true)
    }

    @Test(arguments: [
        ("a: 1\na: 2\n", 2), ("a: [1\n", 2), ("a: 1\n---\nb: 2\n", 2), ("{[1]: 2}\n", 1), ("a:\n\t- b\n", 2),
    ])
    func faultsNameTheirLine(text: String, line: Int) {
        do {
            _ = try YAMLNode.parse(text)
            Issue.record("parsed")
        } catch {
            #expect(error.place.line == line)
        }
    }

    @Test func hostileDocumentsAreRefused() {
        #expect(throws: YAMLError.self) { try YAMLNode.parse(String(repeating: "[", count: 5000)) }
        var bomb = "a0: &a0 [x]\n"
        for level in 1..<20 { bomb += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1), *a\(level - 1)]\n" }
        #expect(throws: YAMLError.self) { try YAMLNode.parse(bomb) }
        #expect(throws: YAMLError.self) { try YAMLNode.parse("a: &a [*a]\n") }
    }
}
