/// One figure: what it is, what it should be, and what it was.
struct Figure {
    enum Target {
        case atMost(Double)
        case atLeast(Double)
        /// A figure for comparison, with nothing to reach.
        case none
    }

    var name: String
    var value: Double
    var unit: String
    var target: Target
    var note = ""

    var isReached: Bool? {
        switch target {
        case .atMost(let limit): value <= limit
        case .atLeast(let limit): value >= limit
        case .none: nil
        }
    }
}

/// Prints figures as a table.
enum Report {
    static func table(_ figures: [Figure]) -> String {
        let rows = [["what", "target", "reached", "", "note"]] + figures.map(row)
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { cells in
            let padded = zip(cells, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            var line = (padded + [cells[4]]).joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }

    private static func row(_ figure: Figure) -> [String] {
        let target =
            switch figure.target {
            case .atMost(let limit): "<= \(number(limit)) \(figure.unit)"
            case .atLeast(let limit): ">= \(number(limit)) \(figure.unit)"
            case .none: "-"
            }
        let verdict = figure.isReached.map { $0 ? "ok" : "MISSED" } ?? ""
        return [figure.name, target, "\(number(figure.value)) \(figure.unit)", verdict, figure.note]
    }

    /// Three significant digits.
    static func number(_ value: Double) -> String {
        let magnitude = abs(value)
        let decimals =
            magnitude >= 100 || magnitude == magnitude.rounded() && magnitude >= 1
            ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        guard magnitude < 1e15 else { return "\(value)" }
        let scaled = Int((magnitude * scale).rounded())
        let sign = value < 0 ? "-" : ""
        guard decimals > 0 else { return sign + "\(scaled)" }
        let fraction = String(scaled % Int(scale))
        return sign + "\(scaled / Int(scale))." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}
