/// Why a session failed, in words for the user, with the exit code that the command line documents.
public struct SessionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure that a script can tell apart; the raw value is the process's exit code.
    public enum Category: Int32, Sendable, CaseIterable {
        /// An expectation of a scenario failed.
        case expectation = 1
        /// The command line or the configuration is wrong.
        case usage = 2
        /// No token, or the server refused it.
        case authorization = 3
        /// The connection could not be made, or was lost for good.
        case connection = 4
        /// The agent did not join, or did not answer in time.
        case agent = 5
        /// An audio device or file could not be used.
        case audio = 6
        /// A fault of this program.
        case `internal` = 70
    }

    public var category: Category
    /// What happened, to which thing, and what to do next; never holds a token or a secret.
    public var description: String

    public init(_ category: Category, _ description: String) {
        self.category = category
        self.description = description
    }

    /// The exit code of the process that ends with this error.
    public var exitCode: Int32 { category.rawValue }
}
