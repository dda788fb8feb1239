/// A conversation to have with an agent, and what is expected of it: one entry of a file of scenarios.
public struct Scenario: Sendable, Equatable {
    /// When the first step is taken.
    public enum Start: String, Sendable, CaseIterable {
        /// When an agent is in the room and can hear.
        case whenAgentListens = "agent"
        /// At once: what is said before an agent is there is kept for it (the pre-connect buffer).
        case atOnce = "at_once"
    }

    public var name: String
    /// Where it begins.
    public var place: ScenarioPlace
    public var details = ""
    public var tags: [String] = []
    /// The whole session may take so long.
    public var timeLimit = Duration.seconds(120)
    /// Further attempts after a failed one.
    public var retries = 0
    /// How often it is run.
    public var repeats = 1
    public var start = Start.whenAgentListens
    /// The agent to dispatch; nil leaves that to the settings of the run.
    public var agent: Agent?
    /// Attributes that the user joins with.
    public var attributes: [String: String] = [:]
    /// How `say` sounds.
    public var voice = Voice()
    /// What the agent of the embedded sandbox does, as it stands in the file; nil leaves it as it is.
    public var sandbox: Sandbox?
    public var tools: [Tool] = []
    public var steps: [ScenarioStep] = []
    /// What is expected of the session as a whole.
    public var expectations: [ScenarioExpectation] = []

    public init(name: String, place: ScenarioPlace) {
        self.name = name
        self.place = place
    }

    public struct Agent: Sendable, Equatable {
        public var name: String
        /// What the dispatched agent is given.
        public var metadata: String?

        public init(name: String, metadata: String? = nil) {
            self.name = name
            self.metadata = metadata
        }
    }

    /// A synthesised voice.
    public struct Voice: Sendable, Hashable {
        /// A voice of espeak-ng, such as `en-us` or `de`.
        public var name = "en-us"
        /// 80 to 450.
        public var wordsPerMinute = 165
        /// 0 to 100.
        public var pitch = 60

        public init() {}
    }

    /// A method that the agent may call, with the answer that it gets: a text, most often JSON.
    public struct Tool: Sendable, Equatable {
        public var name: String
        public var reply: String

        public init(name: String, reply: String) {
            self.name = name
            self.reply = reply
        }
    }

    /// The script of the embedded sandbox's agent, for whoever serves one.
    public struct Sandbox: Sendable, Equatable {
        /// With variables put in.
        public var script: YAMLNode
        public var file: String
    }

    /// The name in letters that every file system takes.
    public var fileName: String {
        let letters = name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" }
        let parts = String(letters).split(separator: "-", omittingEmptySubsequences: true)
        return parts.isEmpty ? "scenario" : String(parts.joined(separator: "-").prefix(80))
    }
}
