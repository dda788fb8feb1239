/// Spoken text with the time at which each of its words begins. Pure.
package struct Utterance: Sendable, Equatable {
    /// A word as it is written, with the blank before it: the words of an utterance joined are its text.
    package struct Word: Sendable, Equatable {
        package var text: String
        /// Where it begins, in samples.
        package var start: Int
    }

    package var text: String
    /// 48 kHz mono.
    package var samples: [Int16]
    package var words: [Word]

    /// Cuts a text into words for transcripts: `["We", " are", " open."]`.
    static func split(_ text: String) -> [String] {
        var words: [String] = []
        var current = ""
        var hasLetter = false
        for character in text {
            if character.isWhitespace, hasLetter {
                words.append(current)
                current = ""
                hasLetter = false
            }
            current.append(character)
            hasLetter = hasLetter || !character.isWhitespace
        }
        if hasLetter { words.append(current) } else if !words.isEmpty { words[words.count - 1] += current }
        return words
    }

    /// Gives each word of the text its time.
    /// - Parameter marks: where in the text (characters from 0) and when (samples) speech reached a word, in order. A
    ///   written word may have several (a number) or none; one without takes that of the word before.
    static func timed(_ text: String, marks: [(character: Int, sample: Int)], duration: Int) -> [Word] {
        let texts = split(text)
        guard !marks.isEmpty else {
            return texts.enumerated().map { Word(text: $1, start: duration * $0 / max(1, texts.count)) }
        }
        var words: [Word] = []
        var position = 0
        var last = 0
        for text in texts {
            let range = position..<position + text.count
            if let mark = marks.first(where: { range.contains($0.character) }) { last = max(last, mark.sample) }
            words.append(Word(text: text, start: min(last, duration)))
            position = range.upperBound
        }
        return words
    }
}
