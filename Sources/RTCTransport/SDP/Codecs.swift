/// The codecs and header extensions that this stack speaks, and how they are matched with the peer's.
enum Codecs {
    static let opus = SDPCodec(
        payloadType: 111, name: "opus", clockRate: 48_000, channels: 2,
        parameters: FormatParameters(parsing: "minptime=10;useinbandfec=1"), feedback: ["nack", "transport-cc"])
    static let red = SDPCodec(
        payloadType: 63, name: "red", clockRate: 48_000, channels: 2,
        parameters: FormatParameters(parsing: "111/111"))
    static let vp8 = SDPCodec(
        payloadType: 96, name: "VP8", clockRate: 90_000, feedback: ["nack", "nack pli", "transport-cc"])

    static let audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    static let transportSequence = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

    /// What an offer of ours lists. The numbers are those of libwebrtc's offers.
    static let extensions = [
        SDPExtension(id: 1, uri: audioLevel), SDPExtension(id: 3, uri: transportSequence),
        SDPExtension(id: 4, uri: mid),
    ]

    static func offered(_ kind: MediaKind, red: Bool) -> [SDPCodec] {
        kind == .audio ? (red ? [opus, Self.red] : [opus]) : [vp8]
    }

    /// The codecs of an answer to `offered`: ours of them, under the offer's payload types (RFC 3264 section 6.1).
    static func answered(_ kind: MediaKind, offered: [SDPCodec], red: Bool) -> [SDPCodec] {
        guard kind == .video else {
            guard var audio = offered.first(where: { $0.isNamed("opus") && $0.clockRate == 48_000 }) else { return [] }
            audio.parameters = opus.parameters
            audio.feedback = audio.feedback.filter { opus.feedback.contains($0) }
            // RED is of use only when its blocks are of the Opus that was agreed.
            let type = String(audio.payloadType)
            let redundancy = offered.first { codec in
                codec.isNamed("red")
                    && codec.parameters?.description.split(separator: "/").first.map(String.init) == type
            }
            return [audio] + (red ? redundancy.map { [$0] } ?? [] : [])
        }
        // Video is never sent or shown, but its sections stay valid: the offer's first codec and its like.
        return offered.first.map { [$0] } ?? []
    }

    static func answered(_ extensions: [SDPExtension]) -> [SDPExtension] {
        extensions.filter { offered in Self.extensions.contains { $0.uri == offered.uri } }
    }
}

/// What was agreed for an audio section.
public struct NegotiatedAudio: Sendable, Equatable {
    public var opusPayloadType: UInt8
    /// nil when RED was not agreed.
    public var redPayloadType: UInt8?
    /// The peer allows in-band FEC in what is sent to it.
    public var inbandFEC: Bool
    /// The peer asks for stereo.
    public var stereo: Bool
    /// The peer allows discontinuous transmission.
    public var dtx: Bool
    /// The most the peer wants to receive, bits a second.
    public var maxAverageBitrate: Int?
    /// Whether lost packets may be asked for again.
    public var nack: Bool
    public var audioLevelExtension: UInt8?
    public var midExtension: UInt8?
    public var transportSequenceExtension: UInt8?

    init?(codecs: [SDPCodec], extensions: [SDPExtension]) {
        guard let opus = codecs.first(where: { $0.isNamed("opus") }) else { return nil }
        let parameters = opus.parameters ?? FormatParameters()
        opusPayloadType = opus.payloadType
        redPayloadType = codecs.first { $0.isNamed("red") }?.payloadType
        inbandFEC = parameters.isSet("useinbandfec")
        stereo = parameters.isSet("stereo")
        dtx = parameters.isSet("usedtx")
        maxAverageBitrate = parameters["maxaveragebitrate"].flatMap { Int($0) }
        nack = opus.feedback.contains("nack")
        func id(_ uri: String) -> UInt8? { extensions.first { $0.uri == uri }?.id }
        audioLevelExtension = id(Codecs.audioLevel)
        midExtension = id(Codecs.mid)
        transportSequenceExtension = id(Codecs.transportSequence)
    }
}
