import RTCTransport

/// What an offer says of one media section, as far as an SFU has to decide on it.
struct OfferedSection: Sendable, Equatable {
    var media: String
    var mid: String
    var direction: MediaDirection
    /// The two parts of `a=msid`; nil when there is none.
    var msid: MediaStreamID?
    var isRejected: Bool

    /// The sections of an offer, in order.
    /// - Throws: ``SDPError``.
    static func parse(_ sdp: String) throws(SDPError) -> [OfferedSection] {
        let message = try SDPMessage(parsing: sdp)
        return message.sections.enumerated().map { index, section in
            func value(_ name: String) -> String? { section.attributes.first { $0.name == name }?.value }
            let direction = [MediaDirection.sendonly, .recvonly, .inactive]
                .first { direction in section.attributes.contains { $0.name == direction.rawValue } }
            let parts = (value("msid") ?? "").split(separator: " ", maxSplits: 1).map(String.init)
            return OfferedSection(
                media: section.media, mid: value("mid") ?? String(index), direction: direction ?? .sendrecv,
                msid: parts.first.map { MediaStreamID(stream: $0, track: parts.count > 1 ? parts[1] : "") },
                isRejected: section.port == 0 && !section.attributes.contains { $0.name == "bundle-only" })
        }
    }
}
