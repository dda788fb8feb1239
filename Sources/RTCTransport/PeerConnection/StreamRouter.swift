/// Finds the media section that a packet belongs to (RFC 9143 section 9.2): by its mid extension, by the sources that
/// the description announced, and, where there is only one candidate, by its payload type.
struct StreamRouter: Sendable {
    private struct Section: Sendable {
        var index: Int
        var mid: String
        var payloadTypes: Set<UInt8>
        var midExtension: UInt8?
        var announced: [UInt32]
    }

    private var sections: [Section] = []
    private var table: [UInt32: Int] = [:]

    /// Sources remembered at most; a peer that sends with more starts over.
    private static let limit = 256

    /// Takes over what a finished negotiation says.
    mutating func update(_ negotiated: [Negotiator.Section]) {
        sections = negotiated.enumerated().compactMap { index, section in
            guard section.currentDirection?.receives == true, let agreed = section.agreed else { return nil }
            return Section(
                index: index, mid: section.mid,
                payloadTypes: Set([agreed.opusPayloadType, agreed.redPayloadType].compactMap { $0 }),
                midExtension: agreed.midExtension, announced: section.remoteSSRCs)
        }
        table = table.filter { entry in sections.contains { $0.index == entry.value } }
        for section in sections {
            for ssrc in section.announced { table[ssrc] = section.index }
        }
    }

    mutating func section(of packet: RTPPacket) -> Int? {
        for section in sections {
            guard let id = section.midExtension, let data = packet.headerExtension(id),
                String(decoding: data, as: UTF8.self) == section.mid
            else { continue }
            remember(packet.ssrc, section.index)
            return section.index
        }
        if let index = table[packet.ssrc] { return index }
        let unclaimed = sections.filter { section in
            section.payloadTypes.contains(packet.payloadType) && !table.values.contains(section.index)
        }
        guard unclaimed.count == 1, let section = unclaimed.first else { return nil }
        remember(packet.ssrc, section.index)
        return section.index
    }

    private mutating func remember(_ ssrc: UInt32, _ index: Int) {
        if table.count >= Self.limit { table.removeAll() }
        table[ssrc] = index
    }
}
