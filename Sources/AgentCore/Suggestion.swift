/// Finds what a typo was meant to be.
package enum Suggestion {
    /// The nearest candidate, if it is near enough to be meant.
    package static func nearest(to text: String, among candidates: [String]) -> String? {
        let scored = candidates.map { ($0, distance(text, $0)) }
        guard let best = scored.min(by: { $0.1 < $1.1 }), best.1 <= max(1, text.count / 3) else { return nil }
        return best.0
    }

    /// Edits (insertion, deletion, substitution, swap of neighbours) between two words.
    package static func distance(_ left: String, _ right: String) -> Int {
        let (a, b) = (Array(left), Array(right))
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var rows = [Array(0...b.count)]
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                var cost = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { cost = min(cost, rows[i - 2][j - 2] + 1) }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
