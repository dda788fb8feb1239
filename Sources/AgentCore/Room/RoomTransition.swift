public import LoopCore

extension RoomStateMachine {
    /// A change of phase, and why and when it was made.
    public struct Transition: Sendable, Equatable {
        public var step: Step
        public var from: Phase.Kind
        public var to: Phase.Kind
        /// What went wrong, where that is why.
        public var cause: DisconnectCause?
        public var at: MonotonicTime
    }

    /// The steps by which the phase changes; it changes by no other. Each leads to one phase, from those named.
    ///
    /// `Sources/AgentCore/AgentCore.docc/RoomStates.md` shows them as a diagram, made from this declaration.
    public enum Step: String, Sendable, CaseIterable {
        case prepareOffer = "an offer is wanted first"
        case openSocket = "the signal connection is opened"
        case socketOpened = "the socket is open"
        case socketRefused = "the upgrade is refused"
        case lookForRegions = "the server cannot be reached"
        case joined = "the server let the client in"
        case resumed = "the server took the session up again"
        case mediaConnected = "media stands"
        case backOff = "the connection is lost, or an attempt to get it back failed"
        case refuseToken = "the token is refused"
        case renewToken = "another token is at hand"
        case end = "left, ended by the server, or given up"

        /// The phase that the step leads to.
        public var target: Phase.Kind {
            switch self {
            case .prepareOffer: .preparingOffer
            case .openSocket: .openingSocket
            case .socketOpened: .joining
            case .socketRefused: .validating
            case .lookForRegions: .findingRegion
            case .joined, .resumed: .connectingMedia
            case .mediaConnected: .connected
            case .backOff, .renewToken: .backingOff
            case .refuseToken: .awaitingToken
            case .end: .disconnected
            }
        }

        /// The phases in which the step can be taken.
        public var sources: Set<Phase.Kind> {
            switch self {
            // Connecting, the next region, the next attempt.
            case .prepareOffer: [.idle, .openingSocket, .validating, .joining, .findingRegion, .backingOff]
            // The same, and the older path after the newer one.
            case .openSocket:
                [.idle, .preparingOffer, .openingSocket, .validating, .joining, .findingRegion, .backingOff]
            case .socketOpened: [.openingSocket]
            case .socketRefused: [.openingSocket]
            case .lookForRegions: [.openingSocket, .validating, .joining]
            case .joined, .resumed: [.joining]
            case .mediaConnected: [.connectingMedia]
            case .backOff: [.preparingOffer, .openingSocket, .validating, .joining, .connectingMedia, .connected]
            case .refuseToken: [.validating]
            case .renewToken: [.awaitingToken]
            case .end: Set(Phase.Kind.allCases).subtracting([.disconnected])
            }
        }
    }

    /// The phases and steps as a Mermaid state diagram.
    public static var diagram: String {
        var lines = ["stateDiagram-v2", "    [*] --> \(Phase.Kind.idle)"]
        for step in Step.allCases {
            for source in Phase.Kind.allCases where step.sources.contains(source) {
                lines.append("    \(source) --> \(step.target): \(step.rawValue)")
            }
        }
        lines.append("    \(Phase.Kind.disconnected) --> [*]")
        return lines.joined(separator: "\n")
    }
}

extension RoomStateMachine.Phase {
    /// The phases, without what they hold.
    public enum Kind: String, Sendable, CaseIterable {
        case idle, preparingOffer, openingSocket, validating, findingRegion, joining, connectingMedia, connected
        case backingOff, awaitingToken, disconnected
    }

    public var kind: Kind {
        switch self {
        case .idle: .idle
        case .preparingOffer: .preparingOffer
        case .openingSocket: .openingSocket
        case .validating: .validating
        case .findingRegion: .findingRegion
        case .joining: .joining
        case .connectingMedia: .connectingMedia
        case .connected: .connected
        case .backingOff: .backingOff
        case .awaitingToken: .awaitingToken
        case .disconnected: .disconnected
        }
    }
}
