import LiveKitProtocol
import Testing

@testable import AgentSandbox

/// The signaling message by message: what no well-behaved client would say, and what `Room` does not say yet.
@Suite struct SignalingTests {
    private func connected(_ server: SandboxServer, _ url: String, _ identity: String) async throws -> SignalClient {
        let client = SignalClient()
        let query = try await client.makeJoin()
        let token = try await server.makeToken(identity: identity, room: "room")
        await client.open(url + "/rtc/v1?" + query, token: token)
        #expect(await eventually { await client.isConnected })
        #expect(
            await eventually {
                await server.participants(in: "room").contains { $0.identity == identity && $0.state == .active }
            })
        return client
    }

    @Test func theJoinHasWhatEveryClientNeeds() async throws {
        try await withSandbox { server, endpoints in
            let client = try await connected(server, endpoints.signal, "a")
            guard case .join(let join)? = await client.messages.first else {
                Issue.record("the first message is no join")
                return
            }
            #expect(join.room?.sid.hasPrefix("RM_") == true)
            #expect(join.room?.name == "room")
            #expect(join.participant?.sid.hasPrefix("PA_") == true)
            #expect(join.participant?.identity == "a")
            #expect(join.participant?.permission?.canPublish == true)
            #expect(join.pingInterval == 5 && join.pingTimeout == 15)
            #expect(join.serverInfo?.protocol == 16)
            #expect(join.serverInfo?.version.hasPrefix("1.9.") == true)
            #expect(join.fastPublish)
            #expect(!join.subscriberPrimary)
            #expect(!join.enabledPublishCodecs.isEmpty)
            let answer = await client.first { if case .answer(let answer) = $0 { answer } else { nil } }
            #expect(answer?.id == 1)
            let token = await client.first { if case .refreshToken(let token) = $0 { token } else { nil } }
            #expect(token?.split(separator: ".").count == 3)
        }
    }

    @Test func pingsAreAnswered() async throws {
        try await withSandbox { server, endpoints in
            let client = try await connected(server, endpoints.signal, "a")
            var ping = Ping()
            ping.timestamp = 42
            await client.send(.pingReq(ping))
            await client.send(.ping(7))
            #expect(
                await eventually {
                    await client.messages.contains {
                        if case .pongResp(let pong) = $0 { pong.lastPingTimestamp == 42 } else { false }
                    }
                })
            #expect(await eventually { await client.messages.contains(.pong(7)) })
        }
    }

    @Test func aLostSignalConnectionIsResumed() async throws {
        try await withSandbox { server, endpoints in
            let alice = try await connected(server, endpoints.signal, "alice")
            let bob = try await connected(server, endpoints.signal, "bob")
            var packet = userPacket("one")
            packet.sequence = 1
            try await bob.send(packet: packet)
            #expect(await eventually { await alice.packets.count == 1 })
            let sid = await alice.first { if case .join(let join) = $0 { join.participant?.sid } else { nil } } ?? ""
            let token = try await server.makeToken(identity: "alice", room: "room")
            await alice.drop()
            packet = userPacket("two")
            packet.sequence = 2
            try await bob.send(packet: packet)

            var request = JoinRequest()
            request.reconnect = true
            request.participantSid = sid
            request.connectionSettings = ConnectionSettings()
            await alice.open(endpoints.signal + "/rtc/v1?" + SignalClient.query(request), token: token)
            #expect(await eventually { await alice.messages.count >= 4 })
            guard case .reconnect(let reconnect)? = await alice.messages.first else {
                Issue.record("the first message is \(String(describing: await alice.messages.first))")
                return
            }
            #expect(reconnect.serverInfo?.protocol == 16)
            let update = await alice.first { if case .update(let update) = $0 { update } else { nil } }
            #expect(Set(update?.participants.map(\.identity) ?? []) == ["alice", "bob"])
            #expect(update?.participants.first { $0.identity == "alice" }?.sid == sid)

            // The data channel lived on: nothing is missing. What is asked for again comes again.
            #expect(await eventually { await alice.packets.count == 2 })
            var state = SyncState()
            var seen = DataChannelReceiveState()
            seen.publisherSid = await alice.packets.first?.participantSid ?? ""
            seen.lastSeq = 1
            state.datachannelReceiveStates = [seen]
            await alice.send(.syncState(state))
            #expect(await eventually { await alice.packets.map(\.sequence) == [1, 2, 2] })

            // An ICE restart is answered, and the connection lives.
            await alice.send(.offer(try alice.makeOffer(id: 2, iceRestart: true)))
            #expect(
                await eventually {
                    await alice.messages.contains { if case .answer(let answer) = $0 { answer.id == 2 } else { false } }
                })
            packet = userPacket("three")
            packet.sequence = 3
            try await bob.send(packet: packet)
            #expect(await eventually { await alice.packets.last?.sequence == 3 })
            #expect(await server.participants(in: "room").count == 2)
        }
    }

    @Test func aSessionThatIsGoneCannotBeResumed() async throws {
        try await withSandbox { server, endpoints in
            let client = SignalClient()
            var request = JoinRequest()
            request.reconnect = true
            request.participantSid = "PA_unknown"
            let token = try await server.makeToken(identity: "a", room: "room")
            await client.open(endpoints.signal + "/rtc/v1?" + SignalClient.query(request), token: token)
            #expect(await eventually { await client.isClosed })
            guard case .leave(let leave)? = await client.messages.first else {
                Issue.record("the first message is no leave")
                return
            }
            #expect(leave.reason == .stateMismatch)
            #expect(leave.action == .reconnect)
        }
    }

    @Test func repeatedPacketsArePassedOnOnce() async throws {
        try await withSandbox { server, endpoints in
            let alice = try await connected(server, endpoints.signal, "alice")
            let bob = try await connected(server, endpoints.signal, "bob")
            for sequence in [1, 2, 2, 1, 3] as [UInt32] {
                var packet = userPacket("\(sequence)")
                packet.sequence = sequence
                try await alice.send(packet: packet)
            }
            #expect(await eventually { await bob.packets.map(\.sequence) == [1, 2, 3] })
        }
    }

    @Test func tracksAreChosenOneByOne() async throws {
        try await withSandbox { server, endpoints in
            let speaker = TestUser()
            try await speaker.join(
                endpoints.signal, token: server.makeToken(identity: "speaker", room: "room"))
            #expect(await eventually { await server.participants(in: "room").first?.tracks.count == 1 })
            let sid = await server.participants(in: "room").first?.tracks.first?.sid ?? ""
            let client = SignalClient()
            let query = try await client.makeJoin(autoSubscribe: false)
            await client.open(
                endpoints.signal + "/rtc/v1?" + query, token: try await server.makeToken(identity: "b", room: "room"))
            #expect(await eventually { await client.isConnected })
            var update = UpdateSubscription()
            update.trackSids = [sid, "TR_unknown"]
            update.subscribe = true
            await client.send(.subscription(update))
            #expect(
                await eventually {
                    await client.messages.contains {
                        if case .subscriptionResponse(let answer) = $0 {
                            answer.trackSid == "TR_unknown"
                        } else {
                            false
                        }
                    }
                })
            #expect(
                await eventually {
                    await client.messages.contains { if case .mediaSectionsRequirement = $0 { true } else { false } }
                })
            await client.send(.offer(try client.makeOffer(id: 2)))
            #expect(
                await eventually {
                    await client.messages.contains {
                        if case .answer(let answer) = $0 { Array(answer.midToTrackId.values) == [sid] } else { false }
                    }
                })
            #expect(await eventually { await speaker.isHeard })
        }
    }

    @Test func whatMakesNoSenseDoesNoHarm() async throws {
        try await withSandbox { server, endpoints in
            let good = try await connected(server, endpoints.signal, "good")
            let bad = try await connected(server, endpoints.signal, "bad")
            var description = SessionDescription()
            description.type = "answer"
            description.sdp = "v=0\r\nnonsense"
            description.id = 77
            var trickle = TrickleRequest()
            trickle.candidateInit = "{\"candidate\":\"candidate:x\",\"sdpMid\":\"99\"}"
            var mute = MuteTrackRequest()
            mute.sid = "TR_nothing"
            var track = AddTrackRequest()
            track.type = .video
            track.cid = "v"
            var subscription = UpdateSubscription()
            subscription.trackSids = (0..<1000).map { "TR_\($0)" }
            let messages: [SignalRequest.Message] = [
                .answer(description), .trickle(trickle), .trickle(TrickleRequest()), .mute(mute), .addTrack(track),
                .subscription(subscription), .trackSetting(UpdateTrackSettings()), .syncState(SyncState()),
                .simulate(SimulateScenario()), .updateLayers(UpdateVideoLayers()), .pingReq(Ping()),
                .subscriptionPermission(SubscriptionPermission()),
            ]
            for message in messages { await bad.send(message) }
            for _ in 0..<30 {
                var flood = AddTrackRequest()
                flood.cid = "cid-\(Int.random(in: 0...1_000_000))"
                await bad.send(.addTrack(flood))
            }
            #expect(
                await eventually {
                    await bad.messages.contains {
                        if case .requestResponse(let answer) = $0 { answer.reason == .limitExceeded } else { false }
                    }
                })
            #expect(
                await bad.messages.contains {
                    if case .requestResponse(let answer) = $0 { answer.reason == .unsupportedType } else { false }
                })
            #expect(await !bad.isClosed)
            try await good.send(packet: userPacket("still here"))
            #expect(await eventually { await bad.packets.count == 1 })
            // An offer that cannot be answered ends the session with the order to join anew.
            description.type = "offer"
            await bad.send(.offer(description))
            #expect(
                await eventually {
                    await bad.messages.contains {
                        if case .leave(let leave) = $0 { leave.action == .reconnect } else { false }
                    }
                })
            #expect(await eventually { await server.participants(in: "room").map(\.identity) == ["good"] })
        }
    }

    @Test func garbageEndsTheConnectionInTheEnd() async throws {
        try await withSandbox({ $0.resumeWindow = .milliseconds(100) }) { server, endpoints in
            let client = try await connected(server, endpoints.signal, "bad")
            for number in 0..<20 { await client.send(raw: [0x0a, 0xff, UInt8(number)]) }
            #expect(await eventually { await client.isClosed })
            #expect(await eventually { await server.roomNames.isEmpty })
            let texting = try await connected(server, endpoints.signal, "text")
            for _ in 0..<20 { await texting.send(text: "{\"ping\": ") }
            #expect(await eventually { await texting.isClosed })
        }
    }

    @Test func alteredMessagesDoNotStopTheServer() async throws {
        try await withSandbox { server, endpoints in
            var random = SplitMix64(seed: 11)
            let client = SignalClient()
            let query = try await client.makeJoin()
            let offer = try await client.makeOffer(id: 2)
            for round in 0..<40 {
                let attacker = SignalClient()
                let token = try await server.makeToken(identity: "attacker-\(round)", room: "room")
                await attacker.open(endpoints.signal + "/rtc/v1?" + query, token: token)
                var request = SignalRequest()
                request.message = .offer(offer)
                var bytes = request.serializedBytes()
                for _ in 0..<Int.random(in: 1...20, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: index)
                    default: bytes.insert(UInt8.random(in: 32...126, using: &random), at: index)
                    }
                }
                _ = await eventually(2) { await !attacker.messages.isEmpty }
                await attacker.send(raw: bytes)
                await attacker.send(raw: Array(bytes.prefix(bytes.count / 2)))
                await attacker.drop()
            }
            let user = try await connected(server, endpoints.signal, "user")
            #expect(await user.isConnected)
        }
    }
}
