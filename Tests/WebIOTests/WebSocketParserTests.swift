import Testing

@testable import WebIO

@Suite struct WebSocketParserTests {
    private typealias Output = WebSocketParser.Output

    private func outputs(of bytes: [UInt8], pieces: [Int], limit: Int = 1 << 20) -> [Output] {
        var parser = WebSocketParser(maxMessageSize: limit, expectsMask: true)
        var outputs: [Output] = []
        var start = 0
        for size in pieces + [bytes.count] {
            let end = min(bytes.count, start + size)
            parser.append(bytes[start..<end])
            start = end
            while let output = try? parser.next() { outputs.append(output) }
        }
        return outputs
    }

    @Test func framesMayComeInAnyPieces() {
        let sizes = [0, 1, 124, 125, 126, 127, 65535, 65536, 70000]
        let payloads = sizes.map { size in (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ size) } }
        let bytes = payloads.flatMap { WebSocketFrame.encode(.binary, $0, mask: 0x1234_5678) }
        let expected = payloads.map(Output.binary)
        #expect(outputs(of: bytes, pieces: []) == expected)
        #expect(outputs(of: bytes, pieces: Array(repeating: 4096, count: 100)) == expected)
        var generator = SplitMix(state: 1)
        for _ in 0..<20 {
            let pieces = (0..<200).map { _ in Int.random(in: 1...3000, using: &generator) }
            #expect(outputs(of: bytes, pieces: pieces) == expected)
        }
        let short = WebSocketFrame.encode(.text, "häé".utf8, mask: 7)
        #expect(outputs(of: short, pieces: Array(repeating: 1, count: short.count)) == [.text("häé")])
    }

    @Test func maskingIsItsOwnInverse() {
        for start in 0..<9 {
            let original = (0..<40).map { UInt8($0) }
            var bytes = original
            WebSocketFrame.unmask(&bytes, from: start, key: 0xA1B2_C3D4)
            for index in start..<40 {
                let key: [UInt8] = [0xA1, 0xB2, 0xC3, 0xD4]
                #expect(bytes[index] == original[index] ^ key[(index - start) % 4])
            }
            WebSocketFrame.unmask(&bytes, from: start, key: 0xA1B2_C3D4)
            #expect(bytes == original)
        }
    }

    @Test func closeReasonsAreCutBetweenCharacters() {
        let payload = WebSocketFrame.closePayload(code: 1000, reason: String(repeating: "é", count: 100))
        #expect(payload.count == 124)
        #expect(String(validating: payload[2...], as: UTF8.self) == String(repeating: "é", count: 61))
        #expect(WebSocketFrame.closePayload(code: 1006, reason: "x") == [])
    }

    @Test func anAnnouncedSizeIsRefusedBeforeItIsStored() {
        var parser = WebSocketParser(maxMessageSize: 100, expectsMask: false)
        parser.append([0x82, 0x7F, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00])
        #expect(throws: WebSocketParser.Failure.self) { _ = try parser.next() }
    }

    @Test func alteredFramesDoNoHarm() {
        var generator = SplitMix(state: 3)
        let frames =
            WebSocketFrame.encode(.text, "hello".utf8, mask: 1) + WebSocketFrame.encode(.ping, [1], mask: 2)
            + WebSocketFrame.encode(.binary, [UInt8](repeating: 7, count: 300), mask: 3)
            + WebSocketFrame.encode(.close, WebSocketFrame.closePayload(code: 1000, reason: "bye"), mask: 4)
        for _ in 0..<5000 {
            var bytes = frames
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: .min ... .max, using: &generator)
            }
            _ = outputs(of: bytes, pieces: [Int.random(in: 1...bytes.count, using: &generator)], limit: 1000)
        }
    }

    @Test func alteredHandshakesDoNoHarm() {
        var generator = SplitMix(state: 5)
        let answer = Array(
            ("HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n3\r\nabc\r\nfff\r\nx\r\n0\r\n\r\n")
                .utf8)
        for _ in 0..<5000 {
            var bytes = answer
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: .min ... .max, using: &generator)
            }
            var handshake = WebSocketHandshake(nonce: [UInt8](repeating: 0, count: 16))
            _ = try? handshake.receive(bytes)
            _ = handshake.end()
        }
    }
}
