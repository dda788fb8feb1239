/// A method that an agent may call on this side (LiveKit RPC), as a frontend of an agent would serve it.
public struct ClientTool: Sendable, Equatable {
    /// How a call is answered.
    public enum Action: Sendable, Equatable {
        /// A program with its arguments; no shell is involved. The parameters come as JSON on its standard input; what
        /// it writes to standard output is the result. It fails with any exit status but 0; the last line of its
        /// standard error then says why.
        case command([String])
        /// Always the same.
        case reply(String)
    }

    /// The RPC method, at most 64 bytes.
    public var name: String
    public var details = ""
    /// What the parameters have to look like; nil takes anything.
    public var parameters: JSONSchema?
    public var action: Action
    /// A command that takes longer is killed.
    public var timeLimit = Duration.seconds(10)
    /// Calls that may run at once; one more is refused.
    public var concurrency = 4

    public init(name: String, action: Action) {
        self.name = name
        self.action = action
    }

    /// Bytes of a method's name, as LiveKit's clients limit it.
    static let maximumName = 64
}

/// A call of an agent to a tool.
public struct ToolCall: Sendable, Equatable {
    /// The id of the RPC request.
    public var id: String
    /// The caller's identity.
    public var caller: String
    public var tool: String
    /// As the agent sent them: JSON, if it keeps to the tool's schema.
    public var parameters: String
}

/// How a call ended.
public struct ToolAnswer: Sendable, Equatable {
    public var call: ToolCall
    public var result: Result<String, RPCError>
    /// From the request to its answer.
    public var duration: Duration
}
