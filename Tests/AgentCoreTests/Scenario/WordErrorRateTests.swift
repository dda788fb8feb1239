import Testing

@testable import AgentCore

@Suite struct WordErrorRateTests {
    @Test func wordsAreComparedWithoutCasePunctuationOrForm() {
        #expect(Words.normalized("We’re OPEN, from 9 — to-six!") == ["were", "open", "from", "9", "to", "six"])
        #expect(Words.normalized("Ｆｕｌｌ ﬁne Ⅳ") == ["full", "fine", "iv"])
        #expect(Words.normalized("Grüße, Ναί, Привет! नमस्ते") == ["grüße", "ναί", "привет", "नमस्ते"])
        #expect(Words.normalized("u\u{0308}ber") == Words.normalized("über"))
        #expect(Words.normalized("你好 世界，a1") == ["你", "好", "世", "界", "a1"])
        #expect(Words.normalized("…—!").isEmpty)
    }

    @Test(arguments: [
        ("we are open", "we are open", 0, 0, 0), ("We are OPEN!", "we are open", 0, 0, 0),
        ("we were open", "we are open", 1, 0, 0), ("we open", "we are open", 0, 1, 0),
        ("well we are open now", "we are open", 0, 0, 2), ("", "we are open", 0, 3, 0), ("a b", "", 0, 0, 2),
        ("the cat sat mat", "a cat sat on mat", 1, 1, 0),
    ])
    func editsAreCounted(text: String, reference: String, substitutions: Int, deletions: Int, insertions: Int) {
        let rate = WordErrorRate(of: text, reference: reference)
        #expect(rate.substitutions == substitutions && rate.deletions == deletions && rate.insertions == insertions)
    }

    @Test func theRateIsOfTheReferencesWords() {
        #expect(WordErrorRate(of: "we were open", reference: "we are open").rate == 1.0 / 3)
        #expect(WordErrorRate(of: "", reference: "").rate == 0)
        #expect(WordErrorRate(of: "x", reference: "").rate == 1)
        #expect(WordErrorRate(of: "a b c d", reference: "x").rate == 4)
    }

    @Test func phrasesAreFoundWordForWord() {
        #expect(Words.contains("From nine in the morning, until six.", phrase: "Morning until"))
        #expect(!Words.contains("From nineteen", phrase: "nine"))
        #expect(!Words.contains("anything", phrase: "…"))
    }

    @Test func jsonIsReadAndCompared() {
        let value = JSONValue(json: #"{"id": 7, "s": "\ud83d\ude00", "list": [1, null], "more": {"x": true}}"#)
        #expect(value?["s"]?.text == "😀")
        #expect(value?.holds(.object([("id", .number(7)), ("more", .object([]))])) == true)
        #expect(value?.holds(.object([("list", .array([.integer(1)]))])) == false)
        #expect(value?.holds(.object([("none", .null)])) == false)
        #expect(JSONValue(json: "{") == nil)
    }
}
