/// A token that must not be seen: it prints as a placeholder, and its text is reached only by asking for it.
public struct AccessToken: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// The token itself.
    public let value: String

    public init(_ value: String) {
        self.value = value
    }

    public var description: String { "<token>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
