import LiveKitProtocol
import Testing

/// Altered messages never trap, and what decodes from them is sound: it encodes to bytes that decode the same.
@Suite struct FuzzTests {
    private static let mutations = 100_000

    @Test(.timeLimit(.minutes(2))) func alteredFramesThrowOrDecode() throws {
        var generator = SeededGenerator(seed: 0x4c4b)
        let frames = try Captures.frames()
        let packets = [
            "2205616c6963656a240a0273311080d095ffbc311a076c6b2e63686174220a746578742f706c61696e28024a00800101",
            "7a240a0273311a1e0a166c6b2e7472616e736372697074696f6e5f66696e616c120474727565800103",
            "2a056167656e74520f0a02723112016d1a017020c03e2801800105",
        ].map(bytes)
        // The longest frames are long for their SDP, which is one string here.
        let corpus = frames.map(\.bytes).filter { $0.count <= 1024 } + packets
        var decoded = 0
        for _ in 0..<Self.mutations {
            guard var altered = corpus.randomElement(using: &generator) else { break }
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                mutate(&altered, splicing: corpus, using: &generator)
            }
            if try decode(altered, using: &generator) { decoded += 1 }
        }
        // Neither side of the decision goes untested.
        #expect(decoded > Self.mutations / 20)
        #expect(decoded < Self.mutations)
    }

    private func decode(_ bytes: [UInt8], using generator: inout SeededGenerator) throws -> Bool {
        switch UInt8.random(in: 0..<3, using: &generator) {
        case 0: try check(SignalResponse.self, bytes)
        case 1: try check(SignalRequest.self, bytes)
        default: try check(DataPacket.self, bytes)
        }
    }

    private func check<Message: ProtobufMessage>(_ type: Message.Type, _ bytes: [UInt8]) throws -> Bool {
        guard let message = try? Message(serializedBytes: bytes) else { return false }
        let encoded = message.serializedBytes()
        // Compared as bytes, since a NaN does not equal itself.
        #expect(try Message(serializedBytes: encoded).serializedBytes() == encoded)
        return true
    }

    private func mutate(
        _ bytes: inout [UInt8], splicing corpus: [[UInt8]], using generator: inout SeededGenerator
    ) {
        guard let index = bytes.indices.randomElement(using: &generator) else { return }
        switch UInt8.random(in: 0..<7, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes[index] = [0, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0
        case 3: bytes.removeSubrange(index..<min(bytes.count, index + 8))
        case 4: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 16)], at: index)
        case 5: bytes.removeSubrange(index...)
        default:
            guard let other = corpus.randomElement(using: &generator),
                let cut = other.indices.randomElement(using: &generator)
            else { return }
            bytes.replaceSubrange(index..., with: other[cut...])
        }
    }
}
