/// Text of others on a terminal: made harmless, measured and wrapped.
enum TerminalText {
    /// Removes what a terminal would act on: control and escape characters, and marks that turn the writing direction
    /// of the rest of the line. Line breaks and tabs become spaces.
    static func sanitized(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0a, 0x0d, 0x85, 0x2028, 0x2029: result.append(" ")
            case 0x00...0x1f, 0x7f...0x9f: continue
            case 0x202a...0x202e, 0x2066...0x2069, 0x200e, 0x200f, 0xfeff, 0xfff9...0xfffb: continue
            case 0xe0000...0xe007f: continue
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Columns that a character takes: 0 for combining marks, 2 for wide ones (East Asian Width W and F, emoji).
    static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        let isEmoji = first.properties.isEmojiPresentation || character.unicodeScalars.contains { $0.value == 0xfe0f }
        return isEmoji || isWide(first.value) ? 2 : isZeroWidth(first) ? 0 : 1
    }

    static func width(_ text: String) -> Int {
        text.reduce(0) { $0 + width($1) }
    }

    private static func isZeroWidth(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
            0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6,
            0x1f300...0x1f64f, 0x1f900...0x1f9ff, 0x20000...0x3fffd:
            true
        default: false
        }
    }

    /// Breaks text into lines of at most `columns`, between words where that is possible; lines but the first start
    /// with `indent` spaces. Never returns a line wider than the terminal, however narrow it is.
    static func wrapped(_ text: String, columns: Int, firstPrefix: String, indent: Int) -> [String] {
        let columns = max(columns, 2)
        // On a very narrow terminal every column is for the text.
        let indent = indent <= columns / 2 ? indent : 0
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = width(firstPrefix) < columns ? firstPrefix : ""
        var used = width(line)
        var isEmpty = true
        func flush() {
            lines.append(line)
            line = margin
            used = indent
            isEmpty = true
        }
        for word in text.split(separator: " ", omittingEmptySubsequences: true) {
            let size = width(String(word))
            if !isEmpty, used + 1 + size > columns { flush() }
            if !isEmpty {
                line += " "
                used += 1
            }
            for character in word {
                if used + width(character) > columns { flush() }
                line.append(character)
                used += width(character)
                isEmpty = false
            }
        }
        lines.append(line)
        return lines
    }
}
