/// What an agent says it is doing: the participant attribute `lk.agent.state`.
public enum AgentState: Sendable, Hashable, CustomStringConvertible {
    case initializing
    case idle
    case listening
    case thinking
    case speaking
    /// A state this program does not know, as the agent wrote it.
    case other(String)

    /// The participant attribute that carries the state.
    public static let attribute = "lk.agent.state"

    /// - Parameter attribute: the attribute's value.
    public init(attribute: String) {
        switch attribute {
        case "initializing": self = .initializing
        case "idle": self = .idle
        case "listening": self = .listening
        case "thinking": self = .thinking
        case "speaking": self = .speaking
        default: self = .other(attribute)
        }
    }

    public var description: String {
        switch self {
        case .initializing: "initializing"
        case .idle: "idle"
        case .listening: "listening"
        case .thinking: "thinking"
        case .speaking: "speaking"
        case .other(let value): value
        }
    }
}
