import AgentCore
import LiveKitProtocol
import Testing

@testable import AgentSandbox

/// Clients of `AgentCore.Room` in a sandbox server, over sockets.
@Suite struct ForwardingTests {
    private func join(
        _ server: SandboxServer, _ url: String, _ identity: String, room: String = "room", dual: Bool = false,
        autoSubscribe: Bool = true, publishes: Bool = true
    ) async throws -> TestUser {
        let user = TestUser()
        let token = try await server.makeToken(identity: identity, room: room)
        try await user.join(url, token: token, dual: dual, autoSubscribe: autoSubscribe, publishes: publishes)
        return user
    }

    @Test(.inRealTime, arguments: [false, true])
    func twoUsersHearEachOther(dual: Bool) async throws {
        try await withSandbox { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice", dual: dual)
            let bob = try await join(server, endpoints.signal, "bob", dual: dual)
            #expect(await eventually { await all(alice.subscribedSids.count == 1, bob.subscribedSids.count == 1) })
            #expect(await eventually { await alice.others["bob"]?.isActive == true })
            await alice.speak(tone: 440, seconds: 1.5)
            await bob.speak(tone: 1000, seconds: 1.5)
            #expect(await eventually { await all(alice.hasSpoken, bob.hasSpoken) })
            #expect(await eventually { await all(bob.loud.count > 60_000, alice.loud.count > 60_000) })
            #expect(abs(await frequency(of: bob.loud.dropFirst(9600).prefix(48_000)) - 440) < 3)
            #expect(abs(await frequency(of: alice.loud.dropFirst(9600).prefix(48_000)) - 1000) < 3)
            // The first subscriber is told of, and the speaker is.
            #expect(await alice.has { if case .localTrackSubscribed = $0 { true } else { false } })
            #expect(
                await eventually {
                    await bob.has { if case .activeSpeakersChanged(let list) = $0 { !list.isEmpty } else { false } }
                })
            await alice.leave()
            #expect(
                await eventually {
                    await bob.has {
                        if case .participantLeft(let who, .clientInitiated) = $0 {
                            who.identity == "alice"
                        } else {
                            false
                        }
                    }
                })
            #expect(await bob.subscribedSids.isEmpty)
            #expect(await alice.cause == .clientInitiated)
            await bob.leave()
            #expect(await eventually { await server.roomNames.isEmpty })
        }
    }

    @Test(.inRealTime) func oneConnectionAndTwoMeet() async throws {
        try await withSandbox { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice", dual: false)
            let bob = try await join(server, endpoints.signal, "bob", dual: true)
            #expect(await eventually { await all(bob.subscribedSids.count == 1, alice.isLive, bob.isConnected) })
            await alice.speak(tone: 600, seconds: 1)
            #expect(await eventually { await bob.loud.count > 40_000 })
            #expect(abs(await frequency(of: bob.loud.dropFirst(9600).prefix(24_000)) - 600) < 5)
        }
    }

    @Test(arguments: [false, true])
    func dataReachesThoseItIsFor(dual: Bool) async throws {
        try await withSandbox { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice", dual: dual, publishes: false)
            let bob = try await join(server, endpoints.signal, "bob", dual: dual, publishes: false)
            let carol = try await join(server, endpoints.signal, "carol", dual: !dual, publishes: false)
            for user in [alice, bob, carol] {
                #expect(await eventually { await user.others.values.count { $0.isActive } == 2 })
            }
            try await alice.send(userPacket("to all"))
            try await alice.send(userPacket("to bob", to: ["bob"]))
            try await bob.send(userPacket("lossy"), reliable: false)
            #expect(await eventually { await bob.userPackets == ["alice: to all", "alice: to bob"] })
            #expect(await eventually { Set(await carol.userPackets) == ["alice: to all", "bob: lossy"] })
            #expect(await eventually { await alice.userPackets == ["bob: lossy"] })
            let received = await bob.packets
            #expect(received.map(\.sequence) == [1, 2])
            #expect(await received.first?.participantSid == alice.local?.sid)
            // Many, in order.
            for number in 0..<300 { try await carol.send(userPacket("\(number)", to: ["alice"])) }
            let expected = (0..<300).map { "carol: \($0)" }
            #expect(await eventually { await alice.userPackets.filter { $0.hasPrefix("carol") } == expected })
        }
    }

    @Test(.inRealTime, arguments: [false, true])
    func aLateJoinerHearsWhoIsThere(dual: Bool) async throws {
        try await withSandbox { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice")
            #expect(await eventually { await server.participants(in: "room").first?.tracks.count == 1 })
            await alice.speak(tone: 500, seconds: 8)
            let bob = try await join(server, endpoints.signal, "bob", dual: dual, publishes: false)
            #expect(await eventually { await bob.loud.count > 72_000 })
            #expect(abs(await frequency(of: bob.loud.suffix(24_000)) - 500) < 5)
            let joined = await bob.events.compactMap { event in
                if case .joined(_, _, let others) = event { others.map(\.identity) } else { nil }
            }
            #expect(joined == [["alice"]])
        }
    }

    @Test(.inRealTime, arguments: [false, true])
    func manyTracksGetSectionsOfTheirOwn(dual: Bool) async throws {
        try await withSandbox { server, endpoints in
            let listener = try await join(server, endpoints.signal, "listener", dual: dual, publishes: false)
            var speakers: [TestUser] = []
            for number in 0..<5 {
                speakers.append(try await join(server, endpoints.signal, "speaker-\(number)", dual: dual))
            }
            #expect(await eventually { await listener.subscribedSids.count == 5 })
            // One leaves, another comes into its place.
            await speakers[2].leave()
            #expect(await eventually { await listener.subscribedSids.count == 4 })
            let late = try await join(server, endpoints.signal, "late", dual: dual)
            #expect(await eventually { await all(listener.subscribedSids.count == 5, late.isLive, late.isHeard) })
            await late.speak(tone: 700, seconds: 1)
            #expect(await eventually { await listener.loud.count > 40_000 })
            #expect(abs(await frequency(of: listener.loud.dropFirst(9600).prefix(24_000)) - 700) < 5)
        }
    }

    @Test func whoDoesNotSubscribeHearsNothing() async throws {
        try await withSandbox { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice")
            let bob = try await join(server, endpoints.signal, "bob", autoSubscribe: false, publishes: false)
            #expect(await eventually { await all(bob.others["alice"]?.tracks.count == 1, bob.isConnected) })
            await alice.speak(tone: 500, seconds: 0.3)
            #expect(await eventually { await alice.hasSpoken })
            #expect(await bob.subscribedSids.isEmpty)
            #expect(await !alice.has { if case .localTrackSubscribed = $0 { true } else { false } })
        }
    }

    @Test func theSameIdentityReplacesTheEarlier() async throws {
        try await withSandbox { server, endpoints in
            let first = try await join(server, endpoints.signal, "alice")
            #expect(await eventually { await first.isConnected })
            let second = try await join(server, endpoints.signal, "alice")
            #expect(await eventually { await first.cause == .server(.duplicateIdentity) })
            #expect(await eventually { await second.isConnected })
            #expect(await server.participants(in: "room").count == 1)
        }
    }

    @Test func roomsAreApart() async throws {
        try await withSandbox { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice", room: "one")
            let bob = try await join(server, endpoints.signal, "bob", room: "two")
            #expect(await eventually { await all(alice.isConnected, bob.isConnected) })
            try await alice.send(userPacket("hello"))
            try await Task.sleep(for: .milliseconds(200))
            #expect(await bob.packets.isEmpty)
            #expect(await bob.others.isEmpty)
            #expect(await server.roomNames == ["one", "two"])
        }
    }

    @Test func attributesAndMuteAreTold() async throws {
        try await withSandbox { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice")
            let bob = try await join(server, endpoints.signal, "bob")
            #expect(await eventually { await bob.others["alice"]?.tracks.count == 1 })
            await alice.update(["mood": "good", "gone": "x"])
            #expect(await eventually { await bob.others["alice"]?.attributes == ["mood": "good", "gone": "x"] })
            await alice.update(["gone": ""])
            #expect(await eventually { await bob.others["alice"]?.attributes == ["mood": "good"] })
            #expect(
                await alice.has { if case .requestAnswered(let answer) = $0 { answer.reason == .ok } else { false } })
            await alice.setMuted(true)
            #expect(await eventually { await bob.others["alice"]?.tracks.first?.isMuted == true })
            await server.setMuted(true, identity: "bob", room: "room")
            #expect(
                await eventually {
                    await bob.has { if case .localTrackMuted(_, true) = $0 { true } else { false } }
                })
            #expect(await eventually { await alice.others["bob"]?.tracks.first?.isMuted == true })
            await server.setMetadata("news", room: "room")
            #expect(
                await eventually {
                    await alice.has { if case .roomUpdated(let room) = $0 { room.metadata == "news" } else { false } }
                })
        }
    }

    @Test func theServerSendsPeopleAway() async throws {
        try await withSandbox { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice")
            let bob = try await join(server, endpoints.signal, "bob")
            #expect(await eventually { await all(alice.isConnected, bob.isConnected) })
            await server.remove(identity: "alice", room: "room")
            #expect(await eventually { await alice.cause == .server(.participantRemoved) })
            #expect(
                await eventually {
                    await bob.has {
                        if case .participantLeft(_, .participantRemoved) = $0 { true } else { false }
                    }
                })
            await server.delete(room: "room")
            #expect(await eventually { await bob.cause == .server(.roomDeleted) })
        }
    }

    @Test func agentsAloneDoNotKeepARoomOpen() async throws {
        try await withSandbox({ $0.departureTimeout = .milliseconds(200) }) { server, endpoints in
            let agent = TestUser()
            try await agent.join(
                endpoints.signal, token: server.makeToken(identity: "agent", room: "room", kind: .agent))
            let user = try await join(server, endpoints.signal, "user")
            #expect(await eventually { await all(user.isConnected, agent.isConnected) })
            await user.leave()
            #expect(await eventually { await agent.cause == .server(.roomClosed) })
            #expect(await server.roomNames.isEmpty)
        }
    }

    @Test func whoMayNotPublishIsTold() async throws {
        try await withSandbox { server, endpoints in
            let user = TestUser()
            let token = try await server.makeToken(identity: "mute", room: "room", canPublish: false)
            try await user.join(endpoints.signal, token: token)
            #expect(await eventually { await user.has { if case .publishFailed = $0 { true } else { false } } })
        }
    }

    @Test func whoVanishesIsGoneAfterAWhile() async throws {
        try await withSandbox({ $0.resumeWindow = .milliseconds(300) }) { server, endpoints in
            let alice = try await join(server, endpoints.signal, "alice")
            let bob = try await join(server, endpoints.signal, "bob")
            #expect(await eventually { await all(bob.others["alice"]?.isActive == true, bob.isConnected) })
            await alice.vanish()
            #expect(await eventually { await bob.others.isEmpty })
        }
    }
}
