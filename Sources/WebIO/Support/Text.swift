extension String {
    /// Compares ASCII letters without regard to case, as names in HTTP are compared.
    func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { lowerCase($0) == lowerCase($1) }
    }

    /// Without spaces and tabs at the ends.
    var trimmingBlanks: String {
        var text = self[...]
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return String(text)
    }
}

private func lowerCase(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}

/// `text` fit to stand in a message: control characters as `?`, at most `limit` characters.
func printable(_ text: String, limit: Int = 200) -> String {
    let cleaned = text.unicodeScalars.prefix(limit).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }
    let result = String(String.UnicodeScalarView(cleaned))
    return text.unicodeScalars.count > limit ? result + "..." : result
}
