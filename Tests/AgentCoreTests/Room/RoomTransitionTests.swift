import Foundation
import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentCore

/// The steps of a connection, and the diagram that is made of them.
@Suite struct RoomTransitionTests {
    private func transitions(_ driver: MachineDriver) -> [RoomStateMachine.Transition] {
        driver.events.compactMap { if case .transition(let transition) = $0 { transition } else { nil } }
    }

    @Test func everyStepIsAnEventWithItsTime() {
        var driver = MachineDriver.joined()
        driver.wait(.seconds(1))
        driver.receive(.leave(LeaveRequest()))
        let steps = transitions(driver)
        #expect(steps.map(\.step) == [.prepareOffer, .openSocket, .socketOpened, .joined, .mediaConnected, .end])
        #expect(steps.last?.cause == .server(.unknownReason))
        #expect(steps.last?.at == driver.now)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.to == $1.from })
    }

    /// Whatever happens in whatever order: the phase changes by declared steps alone (any other is a failed assertion),
    /// one leads to the next, and nothing follows the end.
    @Test(arguments: 0..<200) func randomHistoriesFollowTheDiagram(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var configuration = RoomStateMachine.Configuration()
        configuration.regions = .always
        configuration.renewsToken = true
        configuration.seed = seed
        var driver = MachineDriver(configuration, reconnects: 4)
        driver.send(.connect(url: "ws://server.test", token: "t"))
        driver.publish("c")
        for _ in 0..<150 { driver.send(input(&random, driver.machine)) }
        let steps = transitions(driver)
        #expect(steps.allSatisfy { $0.step.target == $0.to && $0.step.sources.contains($0.from) })
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.to == $1.from && $0.at <= $1.at })
        #expect(steps.last?.to == driver.machine.phase.kind)
    }

    private func input(_ random: inout SeededGenerator, _ machine: RoomStateMachine) -> RoomStateMachine.Input {
        let generation = machine.generation - (Int.random(in: 0..<8, using: &random) == 0 ? 1 : 0)
        func message(_ message: SignalResponse.Message) -> RoomStateMachine.Input {
            var response = SignalResponse()
            response.message = message
            return .received(generation: generation, response)
        }
        switch Int.random(in: 0..<24, using: &random) {
        case 0...4: return .socketOpened(generation: generation)
        case 5: return .socketFailed(generation: generation, reason: "reset")
        case 6: return .socketClosed(generation: generation, reason: "")
        case 7:
            return .socketRefused(
                generation: generation, status: [401, 404, 503][Int.random(in: 0..<3, using: &random)], body: "")
        case 8:
            return .validated(
                generation: generation, status: [200, 401, 404, nil][Int.random(in: 0..<4, using: &random)], body: "")
        case 9...11: return message(.join(MachineDriver.join()))
        case 12...13: return message(.reconnect(ReconnectResponse()))
        case 14...16: return .transportConnected(Bool.random(using: &random) ? .publisher : .subscriber)
        case 17: return .transportFailed(.publisher, reason: "no answer")
        case 18: return .negotiationFailed(reason: "unusable")
        case 19: return .tokenRenewed(Bool.random(using: &random) ? "t2" : nil)
        case 20: return .regionsFound(Bool.random(using: &random) ? ["wss://a.test", "wss://b.test"] : nil)
        case 21:
            var leave = LeaveRequest()
            leave.action = Bool.random(using: &random) ? .resume : .reconnect
            return message(.leave(leave))
        default: return .tick
        }
    }

    /// `make docs` writes it anew.
    @Test func theDocumentedDiagramIsTheCode() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/AgentCore/AgentCore.docc/RoomStates.md").standardized
        let text = """
            # States of a room's connection

            The phases of ``RoomStateMachine`` and the steps between them, made from its declaration
            (`RoomStateMachine.Step`) by `make docs`. Each step is an event of the session with its time and, where
            something went wrong, its cause.

            ```mermaid
            \(RoomStateMachine.diagram)
            ```

            """
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
}

/// SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
