import Foundation
import LiveKitProtocol
import LoopCore

@testable import AgentSandbox

/// A sandbox server for one test, on a free port and a loop of its own.
func withSandbox(
    _ configure: (inout SandboxConfiguration) -> Void = { _ in },
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
