import Testing

@testable import RTCTransport

@Suite struct ICEServerURLTests {
    @Test(arguments: [
        (
            "stun:stun.example.org", ICEServerURL.Scheme.stun, "stun.example.org", UInt16(3478),
            ICEServerURL.Transport.udp
        ),
        ("STUN:stun.example.org:19302", .stun, "stun.example.org", 19302, .udp),
        ("turn:192.0.2.1:80?transport=tcp", .turn, "192.0.2.1", 80, .tcp),
        ("turn:[2001:db8::1]:443?transport=udp", .turn, "2001:db8::1", 443, .udp),
        ("turn:[2001:db8::1]", .turn, "2001:db8::1", 3478, .udp),
        ("turns:turn.example.org:443?transport=tcp", .turn, "turn.example.org", 443, .tls),
        ("turns:turn.example.org", .turn, "turn.example.org", 5349, .tls),
        ("turn:user@turn.example.org", .turn, "turn.example.org", 3478, .udp),
    ])
    func parses(
        text: String, scheme: ICEServerURL.Scheme, host: String, port: UInt16, transport: ICEServerURL.Transport
    ) throws {
        let url = try #require(ICEServerURL(text))
        #expect(url.scheme == scheme)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.transport == transport)
    }

    @Test(arguments: [
        "", "stun", "stun:", "http://example.org", "turn:host:0", "turn:host:99999", "turn:[::1", "turn:[nope]:3478",
        "turn:2001:db8::1:3478", "turn:host?transport=sctp", "turns:host?transport=udp", "stun:a b", "stun:h/x",
    ])
    func refuses(text: String) {
        #expect(ICEServerURL(text) == nil)
    }
}

@Suite struct ICECandidateLineTests {
    @Test func readsWhatBrowsersSend() throws {
        let line = try ICECandidateLine(
            "candidate:842163049 1 udp 1677729535 203.0.113.9 46154 typ srflx raddr 10.0.0.17 rport 46154 "
                + "generation 0 ufrag EEtu network-id 1 network-cost 10")
        #expect(line.kind == .srflx)
        #expect(line.relatedAddress == "10.0.0.17")
        #expect(
            line.line == "candidate:842163049 1 UDP 1677729535 203.0.113.9 46154 typ srflx raddr 10.0.0.17 rport 46154")
    }

    @Test func readsTCPAndIPv6AndOddExtensions() throws {
        let tcp = try ICECandidateLine("a=candidate:1 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active ufrag x")
        #expect(tcp.transport == .tcpActive)
        let v6 = try ICECandidateLine("candidate:1 1 UDP 99 2001:db8::7 5000 typ host lonely")
        #expect(v6.address == "2001:db8::7")
        let hidden = try ICECandidateLine("candidate:1 1 UDP 99 192.0.2.7 5000 typ relay raddr 0.0.0.0 rport 0\r\n")
        #expect(hidden.relatedAddress == nil)
        #expect(hidden.kind == .relay)
    }

    @Test(arguments: [
        ("", ICECandidateLine.Refusal.malformed),
        ("candidate:", .malformed),
        ("candidate:1 1 UDP 99 192.0.2.7 5000 typ", .malformed),
        ("candidate:1 1 UDP -1 192.0.2.7 5000 typ host", .malformed),
        ("candidate:1 1 UDP 99 192.0.2.7 70000 typ host", .malformed),
        ("candidate:1 1 UDP 99 192.0.2.7 5000 typ ghost", .malformed),
        ("candidate:1 1 UDP 99 192.0.2.7 5000 typ host\u{0}x", .malformed),
        ("candidate:1 2 UDP 99 192.0.2.7 5000 typ host", .otherComponent),
        ("candidate:1 1 UDP 99 d2f1.local 5000 typ host", .hostName),
        ("candidate:1 1 UDP 99 fe80::1%eth0 5000 typ host", .hostName),
        ("candidate:1 1 UDP 99 0.0.0.0 5000 typ host", .unusableAddress),
        ("candidate:1 1 UDP 99 239.1.2.3 5000 typ host", .unusableAddress),
        ("candidate:1 1 UDP 99 192.0.2.7 0 typ host", .unusableAddress),
        ("candidate:1 1 TCP 99 192.0.2.7 5000 typ host", .unsupportedTransport),
        ("candidate:1 1 SCTP 99 192.0.2.7 5000 typ host", .unsupportedTransport),
    ])
    func refuses(text: String, refusal: ICECandidateLine.Refusal) {
        #expect(throws: refusal) { try ICECandidateLine(text) }
    }

    @Test func fuzz() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<5000 {
            let text =
                "candidate:"
                + String(decoding: generator.bytes(Int.random(in: 0...80, using: &generator)), as: UTF8.self)
            _ = try? ICECandidateLine(text)
            _ = ICEServerURL("turn:" + text)
        }
    }
}
