import LiveKitProtocol
import LoopCore

extension RoomStateMachine {
    /// Which servers have regions to fall back on.
    public enum RegionUse: Sendable {
        /// Those of LiveKit Cloud: hosts below `livekit.cloud` and `livekit.run`.
        case cloud
        /// Every server is asked.
        case always
        case never
    }

    /// The other places of a service: the client goes to the next where one cannot be reached.
    struct Regions: Sendable {
        /// As the service listed them, the nearest first; nil before it did.
        var known: [LiveKitURL]?
        var isAsked = false
        /// Servers that failed since the last session stood.
        var failed: Set<String> = []
        /// What is told where no region is left.
        var cause: DisconnectCause?
    }

    /// Whether the server may have other regions.
    private var hasRegions: Bool {
        switch configuration.regions {
        case .never: false
        case .always: true
        case .cloud:
            [".livekit.cloud", ".livekit.run"].contains { home?.host.lowercased().hasSuffix($0) == true }
        }
    }

    /// Whether a failure is one of the place rather than of the client.
    private static func isLocal(_ cause: DisconnectCause) -> Bool {
        switch cause {
        case .unreachable, .timedOut, .signalLost, .mediaFailed: true
        case .rejected(_, let status, _): status >= 500
        default: false
        }
    }

    /// A first connection failed: goes on with another region, if there is one.
    /// - Returns: whether it goes on.
    mutating func triesAnotherRegion(_ cause: DisconnectCause, now: MonotonicTime) -> Bool {
        guard hasRegions, Self.isLocal(cause), let url, isSocketWanted else { return false }
        regions.failed.insert(url.description)
        regions.cause = cause
        if regions.known != nil {
            guard moveToNextRegion() else { return false }
            effects.append(.closeSocket)
            start(configuration.path, now: now)
            return true
        }
        guard !regions.isAsked, phase != .preparingOffer else { return false }
        effects.append(.closeSocket)
        generation += 1
        move(.lookForRegions, to: .findingRegion, cause: cause, now: now)
        setDeadline("looking for another region", configuration.limits.regions, now: now)
        askForRegions()
        return true
    }

    private var isSocketWanted: Bool {
        switch phase {
        case .openingSocket, .validating, .joining: true
        default: false
        }
    }

    /// An attempt to get a connection back failed: the next one goes to another region. A session cannot be resumed
    /// there, so that it is made anew.
    mutating func avoidRegion(_ cause: DisconnectCause) {
        guard hasRegions, Self.isLocal(cause), let url, let failures = recovery?.failures, failures > 0 else { return }
        // A server that is only restarting is given a chance to come back.
        guard recovery?.kind == .full || failures > 1 else { return }
        regions.failed.insert(url.description)
        guard regions.known != nil else { return askForRegions() }
        if moveToNextRegion() { recovery?.kind = .full }
    }

    private mutating func askForRegions() {
        guard !regions.isAsked, let home else { return }
        regions.isAsked = true
        effects.append(.fetchRegions(url: home.regions, token: token))
    }

    /// The service listed its regions; nil where it did not.
    mutating func found(_ list: [String]?, now: MonotonicTime) {
        regions.known = list.map(Self.urls) ?? regions.known
        switch phase {
        case .findingRegion:
            guard moveToNextRegion() else { return endWithoutRegion(now: now) }
            start(configuration.path, now: now)
        case .backingOff:
            guard let url, regions.failed.contains(url.description), moveToNextRegion() else { return }
            recovery?.kind = .full
        default: break
        }
    }

    /// The server that ends a connection may say where to go instead.
    mutating func replaceRegions(_ settings: RegionSettings?) {
        guard let settings, !settings.regions.isEmpty, hasRegions else { return }
        regions.known = Self.urls(settings.regions.map(\.url))
        regions.failed = []
    }

    mutating func endWithoutRegion(now: MonotonicTime) {
        end(
            regions.cause ?? .timedOut(step: "looking for another region", after: configuration.limits.regions),
            now: now)
    }

    private static func urls(_ list: [String]) -> [LiveKitURL] {
        list.prefix(32).compactMap { try? LiveKitURL($0) }
    }

    private mutating func moveToNextRegion() -> Bool {
        guard let next = regions.known?.first(where: { !regions.failed.contains($0.description) }) else { return false }
        url = next
        effects.append(.event(.regionChanged(server: next.description)))
        return true
    }
}
