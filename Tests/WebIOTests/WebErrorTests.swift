import Testing
import WebIO

@Suite struct WebErrorTests {
    @Test func headersIgnoreCase() {
        var headers = HTTPHeaders([("Content-Type", "a"), ("X-One", "1"), ("x-one", "2")])
        #expect(headers["content-type"] == "a")
        #expect(headers.values("X-ONE") == ["1", "2"])
        headers["X-one"] = "3"
        #expect(headers.values("x-one") == ["3"])
        headers["X-One"] = nil
        #expect(headers["x-one"] == nil)
    }

    @Test func headersHoldTokens() {
        let headers: HTTPHeaders = ["Connection": "keep-alive, Upgrade"]
        #expect(headers.contains(token: "upgrade", in: "connection"))
        #expect(!headers.contains(token: "grade", in: "connection"))
    }

    @Test func durationsReadWell() {
        #expect(
            WebError.timedOut("connecting to h", after: .milliseconds(1500)).description.hasPrefix(
                "connecting to h took longer than 1.5 s"))
        #expect(WebError.timedOut("x", after: .seconds(10)).description.contains("10 s:"))
    }
}
