import Foundation
import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentSandbox

/// Whether a sanitizer makes everything many times slower.
let isSanitized = ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil

extension Trait where Self == ConditionTrait {
    /// For tests of sound, which has to be made and heard in time.
    static var inRealTime: Self { .disabled(if: isSanitized, "too slow for sound under a sanitizer") }
}

/// Keeps the number of sandboxes that run at once small: they work in real time, and a machine that is too busy would
/// make audio late.
private actor Gate {
    static let shared = Gate(places: isSanitized ? 1 : 4)
    @TaskLocal static var isInside = false

    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) { self.places = places }

    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
    }
}

/// A sandbox server for one test, on a free port and a loop of its own.
func withSandbox(
    _ configure: (inout SandboxConfiguration) -> Void = { _ in },
    _ body: (SandboxServer, SandboxServer.Endpoints) async throws -> Void
) async throws {
    // A sandbox within a sandbox belongs to the same test.
    guard !Gate.isInside else { return try await run(configure, body) }
    await Gate.shared.enter()
    do {
        try await Gate.$isInside.withValue(true) { try await run(configure, body) }
    } catch {
        await Gate.shared.leave()
        throw error
    }
    await Gate.shared.leave()
}

private func run(
    _ configure: (inout SandboxConfiguration) -> Void,
    _ body: (SandboxServer, SandboxServer.Endpoints) async throws -> Void
) async throws {
    var configuration = SandboxConfiguration()
    configuration.agent = nil
    if ProcessInfo.processInfo.environment["SANDBOX_LOG"] != nil {
        configuration.log = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
    }
    configure(&configuration)
    let loop = EventLoop(name: "sandbox-test")
    let server = SandboxServer(loop: loop, configuration: configuration)
    do {
        try await body(server, server.start())
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}

/// Waits until `condition` holds, looking every 10 ms; whether it did within the time.
func eventually(_ seconds: Double = 10, _ condition: () async -> Bool) async -> Bool {
    let deadline = MonotonicTime.now + .milliseconds(Int64(seconds * 1000))
    while MonotonicTime.now < deadline {
        if await condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return await condition()
}

/// Whether all hold; unlike `&&`, takes values that had to be awaited.
func all(_ conditions: Bool...) -> Bool { conditions.allSatisfy { $0 } }

/// The frequency of a tone: the median distance of its rising zero crossings, which a few glitches do not move.
func frequency(of samples: some Collection<Int16>) -> Double {
    var previous: Int16 = 0
    var last: Double?
    var periods: [Double] = []
    for (index, sample) in samples.enumerated() {
        if previous < 0, sample >= 0 {
            let crossing = Double(index) - Double(sample) / (Double(sample) - Double(previous))
            if let last { periods.append(crossing - last) }
            last = crossing
        }
        previous = sample
    }
    return periods.isEmpty ? 0 : 48_000 / periods.sorted()[periods.count / 2]
}
