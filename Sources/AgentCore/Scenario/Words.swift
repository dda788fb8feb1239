import Foundation

/// Words of a text as they are compared: compatibility forms composed, letters in lower case, without punctuation.
enum Words {
    /// Letters, marks and digits that stand together are a word; apostrophes inside one are left out (`don't` is
    /// `dont`). Scripts that are written without spaces count every character.
    static func normalized(_ text: String) -> [String] {
        var words: [String] = []
        var current = ""
        func flush() {
            if !current.isEmpty { words.append(current) }
            current = ""
        }
        for character in text.precomposedStringWithCompatibilityMapping.lowercased() {
            guard let scalar = character.unicodeScalars.first else { continue }
            if isUnspaced(scalar) {
                flush()
                words.append(String(character))
            } else if isPartOfWord(scalar) {
                current.append(character)
            } else if !"'\u{2019}\u{02bc}".unicodeScalars.contains(scalar) {
                flush()
            }
        }
        flush()
        return words
    }

    /// Whether `phrase` stands in `text`, word for word.
    static func contains(_ text: String, phrase: String) -> Bool {
        let (words, wanted) = (normalized(text), normalized(phrase))
        guard !wanted.isEmpty, words.count >= wanted.count else { return false }
        return (0...(words.count - wanted.count)).contains { Array(words[$0..<($0 + wanted.count)]) == wanted }
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    /// Han, kana, Thai, Lao, Khmer and Burmese.
    private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0e01...0x0e4e, 0x0e81...0x0ede, 0x1000...0x109f, 0x1780...0x17d3, 0x3005...0x3007, 0x3041...0x30ff,
            0x31f0...0x31ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xf900...0xfaff, 0x20000...0x3fffd:
            true
        default: false
        }
    }
}

/// How far what was said is from what should have been: the edits between their words.
public struct WordErrorRate: Sendable, Equatable {
    public var substitutions = 0
    /// Words that are missing.
    public var deletions = 0
    /// Words too many.
    public var insertions = 0
    /// Words of the reference.
    public var referenceWords: Int

    /// The fewest edits that turn the words of `reference` into those of `text` (Levenshtein), both normalised: case,
    /// punctuation and compatibility forms do not count.
    public init(of text: String, reference: String) {
        let (wanted, said) = (Words.normalized(reference), Words.normalized(text))
        referenceWords = wanted.count
        // Edits and their kinds along the cheapest way to each prefix of what was said.
        var row = (0...said.count).map { Path(cost: $0, insertions: $0) }
        for (index, word) in wanted.enumerated() {
            var next = [Path(cost: index + 1, deletions: index + 1)]
            for (position, other) in said.enumerated() {
                var best = row[position]
                if word != other { best = best.substituting() }
                let deleting = row[position + 1].deleting()
                if deleting.cost < best.cost { best = deleting }
                let inserting = next[position].inserting()
                if inserting.cost < best.cost { best = inserting }
                next.append(best)
            }
            row = next
        }
        let best = row[said.count]
        (substitutions, deletions, insertions) = (best.substitutions, best.deletions, best.insertions)
    }

    public var errors: Int { substitutions + deletions + insertions }

    /// Errors for each word of the reference; above 1 where there are more words too many. Against nothing, every
    /// word is wrong.
    public var rate: Double {
        referenceWords > 0 ? Double(errors) / Double(referenceWords) : errors > 0 ? 1 : 0
    }

    private struct Path {
        var cost: Int
        var substitutions = 0
        var deletions = 0
        var insertions = 0

        func substituting() -> Path { with { $0.substitutions += 1 } }
        func deleting() -> Path { with { $0.deletions += 1 } }
        func inserting() -> Path { with { $0.insertions += 1 } }

        private func with(_ change: (inout Path) -> Void) -> Path {
            var copy = self
            copy.cost += 1
            change(&copy)
            return copy
        }
    }
}
