import LiveKitProtocol
import LoopCore
import Testing

@testable import AgentCore

/// A service with several regions: the client goes to the next where one cannot be reached.
@Suite struct RoomRegionTests {
    private let home = "wss://project.livekit.cloud"
    private let regions = ["https://a.region.livekit.cloud", "https://b.region.livekit.cloud"]

    private func connecting(to url: String, reconnects: Int = 0) -> MachineDriver {
        var driver = MachineDriver(reconnects: reconnects)
        driver.send(.connect(url: url, token: "secret-token"))
        return driver
    }

    private func fail(_ driver: inout MachineDriver) {
        driver.send(.socketFailed(generation: driver.machine.generation, reason: "connection refused"))
    }

    private func fetches(_ driver: MachineDriver) -> [String] {
        driver.effects.compactMap { if case .fetchRegions(let url, _) = $0 { url } else { nil } }
    }

    private func hosts(_ driver: MachineDriver) -> [String] {
        driver.sockets.compactMap { (try? LiveKitURL(String($0.url.prefix { $0 != "?" })))?.host }
    }

    @Test func theNextRegionIsTriedUntilNoneIsLeft() {
        var driver = connecting(to: home)
        fail(&driver)
        #expect(fetches(driver) == ["https://project.livekit.cloud/settings/regions"])
        #expect(driver.cause == nil)
        driver.send(.regionsFound(regions))
        fail(&driver)
        fail(&driver)
        #expect(hosts(driver) == ["project.livekit.cloud", "a.region.livekit.cloud", "b.region.livekit.cloud"])
        #expect(
            driver.cause
                == .unreachable(server: "wss://b.region.livekit.cloud", reason: "connection refused"))
    }

    @Test func aRegionThatAnswersIsJoined() {
        var driver = connecting(to: home)
        fail(&driver)
        driver.send(.regionsFound(regions))
        driver.send(.socketOpened(generation: driver.machine.generation))
        driver.receive(.join(MachineDriver.join()))
        driver.send(.transportConnected(.publisher))
        #expect(driver.machine.phase == .connected)
        #expect(driver.events.contains(.regionChanged(server: "wss://a.region.livekit.cloud")))
    }

    @Test func anOverloadedServerIsLeftForAnotherRegion() {
        var driver = connecting(to: home)
        driver.send(.socketRefused(generation: driver.machine.generation, status: 503, body: "no nodes"))
        driver.send(.validated(generation: driver.machine.generation, status: 503, body: "no nodes"))
        #expect(driver.machine.phase == .findingRegion)
    }

    @Test func noListMeansTheFirstFailureIsTold() {
        for answered in [true, false] {
            var driver = connecting(to: home)
            fail(&driver)
            if answered { driver.send(.regionsFound(nil)) } else { driver.wait(.seconds(6)) }
            #expect(driver.cause == .unreachable(server: home, reason: "connection refused"))
        }
    }

    /// A refused token is refused everywhere, and a server of one's own has no regions.
    @Test func othersFailAtOnce() {
        var refused = connecting(to: home)
        refused.send(.socketRefused(generation: refused.machine.generation, status: 401, body: "expired"))
        refused.send(.validated(generation: refused.machine.generation, status: 401, body: "expired"))
        #expect(refused.cause?.category == .authorization)
        for url in ["ws://localhost:7880", "wss://livekit.cloud.example.org", "wss://notlivekit.cloud"] {
            var own = connecting(to: url)
            fail(&own)
            #expect(own.cause != nil)
            #expect(fetches(own).isEmpty)
        }
    }

    /// A session whose server stays away is made anew in another region.
    @Test func aLostSessionMovesOn() {
        var driver = connecting(to: home, reconnects: 10)
        driver.send(.socketOpened(generation: driver.machine.generation))
        driver.receive(.join(MachineDriver.join()))
        driver.send(.transportConnected(.publisher))
        fail(&driver)
        for _ in 0..<3 {
            driver.wait(.seconds(3))
            if driver.machine.phase == .openingSocket { fail(&driver) }
        }
        #expect(fetches(driver).count == 1)
        driver.send(.regionsFound(regions))
        driver.wait(.seconds(8))
        #expect(hosts(driver).last == "a.region.livekit.cloud")
        #expect(driver.sockets.last?.url.contains("reconnect=1") == false)
        driver.send(.socketOpened(generation: driver.machine.generation))
        driver.receive(.join(MachineDriver.join()))
        driver.send(.transportConnected(.publisher))
        #expect(driver.machine.phase == .connected)
    }

    /// A server that shuts down may name the regions to go to.
    @Test func theServersListGoesFirst() {
        var driver = connecting(to: home, reconnects: 10)
        driver.send(.socketOpened(generation: driver.machine.generation))
        driver.receive(.join(MachineDriver.join()))
        driver.send(.transportConnected(.publisher))
        var leave = LeaveRequest()
        leave.action = .reconnect
        var settings = RegionSettings()
        var region = RegionInfo()
        region.url = "https://c.region.livekit.cloud"
        settings.regions = [region]
        leave.regions = settings
        driver.receive(.leave(leave))
        for _ in 0..<3 {
            driver.wait(.seconds(8))
            if driver.machine.phase == .openingSocket, hosts(driver).last != "c.region.livekit.cloud" { fail(&driver) }
        }
        #expect(hosts(driver).last == "c.region.livekit.cloud")
        #expect(fetches(driver).isEmpty)
    }

    @Test func listsAreReadAndRefused() {
        let json = #"{"regions":[{"region":"x","url":"https://x","distance":"12"},{"region":"y","url":"https://y"}]}"#
        #expect(RegionList.urls(Array(json.utf8)) == ["https://x", "https://y"])
        for text in ["", "[]", "{}", #"{"regions":[]}"#, #"{"regions":[{"url":1}]}"#, "<html>"] {
            #expect(RegionList.urls(Array(text.utf8)) == nil)
        }
    }
}
