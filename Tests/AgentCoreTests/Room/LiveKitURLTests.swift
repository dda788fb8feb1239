import Testing

@testable import AgentCore

@Suite struct LiveKitURLTests {
    @Test(arguments: [
        ("ws://h", "ws://h/rtc?a=1"), ("http://h:7880", "ws://h:7880/rtc?a=1"), ("https://h/", "wss://h/rtc?a=1"),
        ("wss://h/rtc", "wss://h/rtc?a=1"), ("wss://h/rtc/v1/", "wss://h/rtc?a=1"),
        ("ws://h/rtc/validate", "ws://h/rtc?a=1"),
        ("ws://h/rtc/v1/validate", "ws://h/rtc?a=1"), ("https://h/http/path//", "wss://h/http/path/rtc?a=1"),
        ("https://http.example", "wss://http.example/rtc?a=1"), ("ws://h?x=1", "ws://h/rtc?x=1&a=1"),
        ("ws://h/p/?x=%2B&y", "ws://h/p/rtc?x=%2B&y&a=1"), ("WSS://h", "wss://h/rtc?a=1"),
        (" ws://h\n", "ws://h/rtc?a=1"),
        ("ws://[::1]:7880/rtc", "ws://[::1]:7880/rtc?a=1"), ("ws://h/v1", "ws://h/v1/rtc?a=1"),
        ("ws://h/myrtc", "ws://h/myrtc/rtc?a=1"), ("ws://h/p#f", "ws://h/p/rtc?a=1"),
    ])
    func signalURLs(text: String, expected: String) throws {
        #expect(try LiveKitURL(text).signal(.v0, query: [("a", "1")]) == expected)
    }

    @Test func otherEndpoints() throws {
        let url = try LiveKitURL("https://h/p?x=1")
        #expect(url.signal(.v1, query: []) == "wss://h/p/rtc/v1?x=1")
        #expect(url.validation(.v0, query: []) == "https://h/p/rtc/validate?x=1")
        #expect(try LiveKitURL("ws://h").validation(.v1, query: [("b", "2")]) == "http://h/rtc/v1/validate?b=2")
        #expect(try LiveKitURL("ws://h:1?access_token=t0ken").description == "ws://h:1")
        #expect(try LiveKitURL("ws://[::1]:1").host == "::1")
        #expect(try LiveKitURL("ws://h:1").host == "h")
    }

    @Test func valuesAreEncoded() throws {
        #expect(
            try LiveKitURL("ws://h").signal(.v1, query: [("join_request", "a+/= &é")])
                == "ws://h/rtc/v1?join_request=a%2B%2F%3D%20%26%C3%A9")
    }

    @Test(arguments: ["", "h", "h:7880", "ftp://h", "ws://", "ws:///p", "ws://:80", "ws://u@h", "://h", "wss:h"])
    func otherTextIsRefused(text: String) {
        #expect(throws: DisconnectCause.self) { _ = try LiveKitURL(text) }
    }
}
