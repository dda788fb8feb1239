/// What a ``ScriptedAgent`` says and how.
public struct AgentScript: Sendable, Equatable {
    public static let `default` = AgentScript()
    public init() {}
}
