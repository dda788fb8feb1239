import LoopCore

/// A value of a scenario's file with its name and file, read with checks: what is wrong is told with its place.
struct ScenarioNode {
    var node: YAMLNode
    var file: String
    /// What it is called in messages.
    var name: String

    var place: ScenarioPlace { ScenarioPlace(node.place, in: file) }

    func fault(_ message: String) -> ScenarioError { ScenarioError(message, at: place) }

    // MARK: Scalars

    func text() throws(ScenarioError) -> String {
        guard let text = node.string, !text.allSatisfy(\.isWhitespace) else { throw fault("\(name) has to be text") }
        return text
    }

    func flag() throws(ScenarioError) -> Bool {
        guard let value = node.bool else { throw fault("\(name) has to be true or false") }
        return value
    }

    func integer(in range: ClosedRange<Int>) throws(ScenarioError) -> Int {
        guard let value = node.int, range.contains(value) else {
            throw fault("\(name) has to be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func number(in range: ClosedRange<Double>) throws(ScenarioError) -> Double {
        guard let value = node.double, range.contains(value) else {
            throw fault("\(name) has to be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// `800ms`, `1.5s`, `2m`, or a number of seconds; at most an hour.
    func duration(orNone allowsZero: Bool = true) throws(ScenarioError) -> Duration {
        guard let text = node.string, let value = Duration(scenario: text), value <= .seconds(3600),
            allowsZero ? value >= .zero : value > .zero
        else { throw fault("\(name) has to be a time of at most an hour, such as 800ms, 1.5s or 2m") }
        return value
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ type: Choice.Type
    ) throws(ScenarioError) -> Choice where Choice.RawValue == String {
        let text = try text()
        if let choice = Choice(rawValue: text) { return choice }
        let all = Choice.allCases.map(\.rawValue)
        throw fault("\(name) is \(text); it has to be one of \(all.joined(separator: ", "))\(Self.hint(text, all))")
    }

    // MARK: Collections

    /// The members of a mapping whose keys are all known.
    func members(_ keys: [String]) throws(ScenarioError) -> Members {
        guard let entries = node.entries else {
            throw fault("\(name) has to be a mapping with the keys \(keys.joined(separator: ", "))")
        }
        for entry in entries where !keys.contains(entry.key) {
            throw ScenarioError(
                "unknown key \(entry.key) in \(name)\(Self.hint(entry.key, keys))",
                at: ScenarioPlace(entry.place, in: file))
        }
        return Members(node: self)
    }

    /// The items of a list; a value that is no list is a list of one where `allowsOne`.
    func items(allowsOne: Bool = false) throws(ScenarioError) -> [ScenarioNode] {
        if let items = node.items { return items.map { ScenarioNode(node: $0, file: file, name: name) } }
        guard allowsOne else { throw fault("\(name) has to be a list") }
        return [self]
    }

    /// One text, or several.
    func texts() throws(ScenarioError) -> [String] {
        var texts: [String] = []
        for item in try items(allowsOne: true) { texts.append(try item.text()) }
        guard !texts.isEmpty else { throw fault("\(name) has to name something") }
        return texts
    }

    struct Members {
        let node: ScenarioNode

        subscript(key: String) -> ScenarioNode? {
            node.node[key].map { ScenarioNode(node: $0, file: node.file, name: key) }
        }
    }

    /// `. Did you mean …?`, or the names there are.
    static func hint(_ text: String, _ names: [String]) -> String {
        if let nearest = Suggestion.nearest(to: text, among: names) { return ". Did you mean \(nearest)?" }
        return ". There are \(names.joined(separator: ", "))"
    }
}

extension Duration {
    /// `800ms`, `1.5s`, `2m`, `1h`, or a number of seconds.
    init?(scenario text: String) {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
        let unit = units.first { text.hasSuffix($0.0) }
        let digits = unit.map { String(text.dropLast($0.0.count)) } ?? text
        guard let value = Double(digits.filter { $0 != " " }), value.isFinite, abs(value) < 1e7 else { return nil }
        self = .nanoseconds(Int64((value * (unit?.1 ?? 1) * 1e9).rounded()))
    }

    /// For people: `850 ms`, `1.5 s`.
    var scenarioText: String {
        if self < .seconds(1) { return "\(Int(milliseconds.rounded())) ms" }
        let tenths = (inSeconds * 100).rounded() / 100
        return tenths == tenths.rounded() ? "\(Int(tenths)) s" : "\(tenths) s"
    }
}
