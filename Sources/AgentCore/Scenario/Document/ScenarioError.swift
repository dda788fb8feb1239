/// A place in a file of scenarios.
public struct ScenarioPlace: Sendable, Equatable, CustomStringConvertible {
    /// The path as it was given, or as an including file names it.
    public var file: String
    /// Counted from 1.
    public var line: Int
    public var column: Int

    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    init(_ place: YAMLPlace, in file: String) {
        self.init(file: file, line: place.line, column: place.column)
    }

    public var description: String { "\(file):\(line):\(column)" }
}

/// Why a scenario cannot be used: what is wrong, where, and what to do.
public struct ScenarioError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Nil where a whole file is meant; then the message names it.
    public var place: ScenarioPlace?
    public var message: String

    public init(_ message: String, at place: ScenarioPlace?) {
        self.place = place
        self.message = message
    }

    /// `file:line:column: what is wrong`.
    public var description: String { place.map { "\($0): \(message)" } ?? message }
}
