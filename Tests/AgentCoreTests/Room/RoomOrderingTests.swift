import LiveKitProtocol
import Testing

@testable import AgentCore

/// What the server and the transports say after the join may come in any order; the outcome is one.
@Suite struct RoomOrderingTests {
    private enum Step: CaseIterable {
        case answer, bob, trackPublished, requirement, candidate, transport
    }

    /// Every order of the elements.
    private func permutations<Element>(_ elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index -> [[Element]] in
            var rest = elements
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    @Test func overOneConnection() {
        let orders = permutations(Step.allCases)
        #expect(orders.count == 720)
        for order in orders {
            var driver = MachineDriver()
            driver.publish("mic")
            driver.connect()
            driver.receive(.join(MachineDriver.join { $0.pingInterval = 0 }))
            for step in order {
                switch step {
                case .answer: answer(&driver, id: 1)
                case .bob:
                    let bob = MachineDriver.participant("PA_b", "bob", tracks: ["TR_1"])
                    driver.receive(.update(MachineDriver.update([bob])))
                case .trackPublished: driver.receive(.trackPublished(MachineDriver.published("mic", "TR_mic")))
                case .requirement: driver.receive(.mediaSectionsRequirement(MediaSectionsRequirement()))
                case .candidate: driver.receive(.trickle(TrickleRequest()))
                case .transport: driver.send(.transportConnected(.publisher))
                }
            }
            // A server answers one offer after the other.
            var answered: UInt32 = 1
            while let id = driver.offersSent.last, id > answered {
                answered = id
                answer(&driver, id: id)
            }
            check(driver, "\(order)")
            #expect(driver.offersSent == Array(2...answered), "\(order)")
        }
    }

    @Test func overTwoConnections() {
        for order in permutations(Step.allCases) {
            var configuration = RoomStateMachine.Configuration()
            configuration.path = .v0
            var driver = MachineDriver(configuration)
            driver.publish("mic")
            driver.connect()
            driver.receive(
                .join(
                    MachineDriver.join {
                        $0.pingInterval = 0
                        $0.subscriberPrimary = true
                    }))
            for step in order {
                switch step {
                case .answer: driver.receive(.answer(MachineDriver.description("answer", id: 1)))
                case .bob:
                    let bob = MachineDriver.participant("PA_b", "bob", tracks: ["TR_1"])
                    driver.receive(.update(MachineDriver.update([bob])))
                case .trackPublished: driver.receive(.trackPublished(MachineDriver.published("mic", "TR_mic")))
                case .requirement:
                    let sdp = MachineDriver.sdp(msid: "PA_b|TR_1 TR_1")
                    driver.receive(.offer(MachineDriver.description("offer", id: 92, sdp: sdp)))
                case .candidate: driver.receive(.trickle(TrickleRequest()))
                case .transport: driver.send(.transportConnected(.subscriber))
                }
            }
            if let id = driver.offersSent.last, id > 1 {
                driver.receive(.answer(MachineDriver.description("answer", id: id)))
            }
            check(driver, "\(order)")
            #expect(driver.answersSent == [92], "\(order)")
            #expect(driver.offersSent == [1, 2], "\(order)")
        }
    }

    private func answer(_ driver: inout MachineDriver, id: UInt32) {
        var answer = MachineDriver.description("answer", id: id, sdp: MachineDriver.sdp(msid: "PA_b|TR_1 TR_1"))
        answer.midToTrackId = ["0": "TR_1"]
        driver.receive(.answer(answer))
    }

    private func check(_ driver: MachineDriver, _ order: String) {
        #expect(driver.cause == nil, "\(order)")
        #expect(driver.machine.phase == .connected, "\(order)")
        #expect(driver.machine.outstandingOffer == nil, "\(order)")
        #expect(driver.machine.publications["mic"]?.state == .published(sid: "TR_mic"), "\(order)")
        let subscribed = driver.events.compactMap { event -> String? in
            guard case .trackSubscribed(let sid, let participant) = event else { return nil }
            return "\(sid) of \(participant?.identity ?? "nobody")"
        }
        #expect(subscribed == ["TR_1 of bob"], "\(order)")
        #expect(driver.effects.contains(.bind(mid: "0", trackSid: "TR_1")), "\(order)")
        #expect(driver.effects.contains { if case .addCandidate = $0 { true } else { false } }, "\(order)")
        #expect(driver.effects.count { if case .addSender = $0 { true } else { false } } == 1, "\(order)")
    }
}
