/// Transport-wide congestion control feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1):
/// which packets of the whole transport arrived, and when.
public struct TransportFeedback: Sendable, Equatable {
    public var sender: UInt32
    public var media: UInt32
    /// The transport-wide number of the first packet reported.
    public var baseSequenceNumber: UInt16
    /// In multiples of 64 ms, 24 bits, signed.
    public var referenceTime: Int32
    /// Grows by one with each feedback packet.
    public var feedbackCount: UInt8
    /// For each packet from the base on: microseconds since the packet that arrived before it (the first: since the
    /// reference time), in steps of 250; nil when it did not arrive.
    public var arrivals: [Int32?]

    /// Packets that one feedback may report; more is malformed.
    static let maximumPackets = 4096

    public init(
        sender: UInt32, media: UInt32, baseSequenceNumber: UInt16, referenceTime: Int32, feedbackCount: UInt8,
        arrivals: [Int32?]
    ) {
        self.sender = sender
        self.media = media
        self.baseSequenceNumber = baseSequenceNumber
        self.referenceTime = referenceTime
        self.feedbackCount = feedbackCount
        self.arrivals = arrivals
    }

    private enum Symbol: UInt16 {
        case notReceived = 0
        case smallDelta = 1
        case largeDelta = 2
    }

    init(parsing body: [UInt8]) throws(RTPError) {
        guard body.count >= 16 else { throw .malformed }
        sender = body.uint32(at: 0)
        media = body.uint32(at: 4)
        baseSequenceNumber = body.uint16(at: 8)
        let count = Int(body.uint16(at: 10))
        referenceTime = Int32(bitPattern: body.uint24(at: 12) << 8) >> 8
        feedbackCount = body[15]
        guard count <= Self.maximumPackets else { throw .malformed }
        var symbols: [UInt16] = []
        var position = 16
        while symbols.count < count {
            guard position + 2 <= body.count else { throw .malformed }
            Self.expand(body.uint16(at: position), into: &symbols, limit: count)
            position += 2
        }
        arrivals = []
        arrivals.reserveCapacity(count)
        for symbol in symbols {
            switch Symbol(rawValue: symbol) {
            case .notReceived?:
                arrivals.append(nil)
            case .smallDelta?:
                guard position < body.count else { throw .malformed }
                arrivals.append(250 * Int32(body[position]))
                position += 1
            case .largeDelta?:
                guard position + 2 <= body.count else { throw .malformed }
                arrivals.append(250 * Int32(Int16(bitPattern: body.uint16(at: position))))
                position += 2
            case nil:
                throw .malformed
            }
        }
    }

    private static func expand(_ chunk: UInt16, into symbols: inout [UInt16], limit: Int) {
        if chunk & 0x8000 == 0 {
            let run = min(Int(chunk & 0x1fff), limit - symbols.count)
            symbols.append(contentsOf: repeatElement(chunk >> 13 & 3, count: run))
            return
        }
        let isWide = chunk & 0x4000 != 0
        let bits = isWide ? 2 : 1
        for index in 0..<(14 / bits) where symbols.count < limit {
            symbols.append(chunk >> UInt16(14 - bits * (index + 1)) & (isWide ? 3 : 1))
        }
    }

    func serialized() -> [UInt8] {
        var body: [UInt8] = []
        body.append(bigEndian: sender)
        body.append(bigEndian: media)
        body.append(bigEndian: baseSequenceNumber)
        body.append(bigEndian: UInt16(truncatingIfNeeded: arrivals.count))
        body.append(bigEndian: UInt32(bitPattern: referenceTime) << 8 | UInt32(feedbackCount))
        let symbols = arrivals.map(Self.symbol)
        // Two-bit vectors of seven: one form for all, simple to check and close to the smallest for audio.
        var index = 0
        while index < symbols.count {
            var chunk: UInt16 = 0xc000
            for offset in 0..<7 where index + offset < symbols.count {
                chunk |= symbols[index + offset].rawValue << UInt16(12 - 2 * offset)
            }
            body.append(bigEndian: chunk)
            index += 7
        }
        for (arrival, symbol) in zip(arrivals, symbols) {
            guard let arrival else { continue }
            let ticks = arrival / 250
            if symbol == .smallDelta {
                body.append(UInt8(truncatingIfNeeded: ticks))
            } else {
                body.append(bigEndian: UInt16(bitPattern: Int16(clamping: ticks)))
            }
        }
        while body.count % 4 != 0 { body.append(0) }
        return body
    }

    private static func symbol(_ arrival: Int32?) -> Symbol {
        guard let arrival else { return .notReceived }
        return (0...255).contains(arrival / 250) && arrival >= 0 ? .smallDelta : .largeDelta
    }
}
