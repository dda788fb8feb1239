/// Why a description cannot be applied or made.
public enum NegotiationError: Error, Sendable, Equatable, CustomStringConvertible {
    case malformed(SDPError)
    /// An answer came without an offer, or an offer while one is outstanding.
    case wrongState(String)
    /// An answer has other sections than the offer, or a new offer dropped some.
    case sectionMismatch(String)
    /// ICE credentials or a fingerprint are missing.
    case missingTransport

    public var description: String {
        switch self {
        case .malformed(let error): error.description
        case .wrongState(let what): what
        case .sectionMismatch(let what): what
        case .missingTransport: "the session description has no ICE credentials or no DTLS fingerprint"
        }
    }
}

/// The offer/answer exchange of one peer connection (RFC 8829): the order of media sections, their mids, codecs and
/// directions over the whole session. Pure; transports and packets are elsewhere.
///
/// Sections are never removed and never change place, one transport carries them all (max-bundle), and payload types
/// and extension ids stay as they were first agreed.
struct Negotiator: Sendable {
    enum State: String, Sendable { case stable, haveLocalOffer, haveRemoteOffer }

    enum Media: Sendable, Equatable {
        case media(MediaKind)
        case application
        /// Something else; always rejected, kept for its place.
        case unknown(SDPMessage.Section)
    }

    /// One media section.
    struct Section: Sendable {
        let media: Media
        var mid: String
        /// What this end wants.
        var direction: MediaDirection
        /// What was last agreed, from this end.
        var currentDirection: MediaDirection?
        var msid: MediaStreamID?
        var remoteMsid: MediaStreamID?
        /// The source that this end sends with.
        var ssrc: UInt32
        var remoteSSRCs: [UInt32] = []
        /// What this end lists: its offer, or its answer to one.
        var codecs: [SDPCodec]
        var extensions: [SDPExtension]
        /// What both agreed on.
        var agreed: NegotiatedAudio?
        var isRejected = false
    }

    /// What this end says of its transport.
    struct LocalTransport: Sendable {
        var iceUfrag: String
        var icePwd: String
        var fingerprint: String
        /// The DTLS role once it is settled.
        var role: DTLSRole?
        /// `candidate:…` lines gathered so far.
        var candidates: [String] = []
        var maxMessageSize: Int
    }

    private(set) var state = State.stable
    private(set) var sections: [Section] = []
    /// Whether RED is offered and answered.
    var allowsRED = true
    private let sessionID = UInt64.random(in: 1..<(1 << 62))
    private var version = 0
    private var nextMid = 0
    private let cname: String
    private(set) var remote: SDPMessage?

    init(cname: String) {
        self.cname = cname
    }

    // MARK: Sections

    /// Adds a section at the end; it counts from the next offer.
    mutating func addMedia(_ kind: MediaKind, direction: MediaDirection, msid: MediaStreamID?, ssrc: UInt32) -> Int {
        sections.append(
            Section(
                media: .media(kind), mid: takeMid(), direction: direction, msid: msid, ssrc: ssrc,
                codecs: Codecs.offered(kind, red: allowsRED), extensions: Codecs.extensions))
        return sections.count - 1
    }

    /// Adds the section of the data channels unless there is one.
    mutating func addApplication() {
        guard !sections.contains(where: { $0.media == .application }) else { return }
        sections.append(
            Section(
                media: .application, mid: takeMid(), direction: .sendrecv, ssrc: 0, codecs: [], extensions: []))
    }

    mutating func setDirection(_ direction: MediaDirection, at index: Int) { sections[index].direction = direction }
    mutating func setMsid(_ msid: MediaStreamID?, at index: Int) { sections[index].msid = msid }

    private mutating func takeMid() -> String {
        while sections.contains(where: { $0.mid == String(nextMid) }) { nextMid += 1 }
        defer { nextMid += 1 }
        return String(nextMid)
    }

    var hasApplication: Bool {
        sections.contains { $0.media == .application && !$0.isRejected }
    }

    // MARK: Making descriptions

    mutating func createOffer(_ transport: LocalTransport) throws(NegotiationError) -> SDPMessage {
        guard state != .haveRemoteOffer else {
            throw .wrongState("an offer was made while the peer's waits for an answer")
        }
        version += 1
        return message(transport, setup: "actpass", answering: nil)
    }

    mutating func createAnswer(_ transport: LocalTransport) throws(NegotiationError) -> SDPMessage {
        guard state == .haveRemoteOffer, let remote else { throw .wrongState("an answer was made without an offer") }
        version += 1
        let role = transport.role ?? Self.answeringRole(to: remote)
        return message(transport, setup: role == .client ? "active" : "passive", answering: remote)
    }

    /// The role of this end when it answers: active unless the offer leaves only the other (RFC 5763 section 5).
    static func answeringRole(to offer: SDPMessage) -> DTLSRole {
        offer.transport?.setup == "active" ? .server : .client
    }

    private func message(_ transport: LocalTransport, setup: String, answering offer: SDPMessage?) -> SDPMessage {
        var message = SDPMessage()
        message.lines = [
            .init("v", "0"), .init("o", "- \(sessionID) \(version) IN IP4 127.0.0.1"), .init("s", "-"),
            .init("t", "0 0"),
        ]
        let mids = sections.filter { !$0.isRejected }.map(\.mid)
        message.attributes = [
            .init("group", (["BUNDLE"] + mids).joined(separator: " ")), .init("extmap-allow-mixed"),
            .init("msid-semantic", " WMS *"),
        ]
        var isFirst = true
        for (index, section) in sections.enumerated() {
            var lines = self.section(section, offered: offer?.sections[index])
            guard !section.isRejected else {
                message.sections.append(lines)
                continue
            }
            lines.attributes += [
                .init("ice-ufrag", transport.iceUfrag), .init("ice-pwd", transport.icePwd),
                .init("ice-options", "trickle"), .init("fingerprint", "sha-256 " + transport.fingerprint),
                .init("setup", setup),
            ]
            if section.media == .application {
                lines.attributes += [
                    .init("sctp-port", "5000"), .init("max-message-size", String(transport.maxMessageSize)),
                ]
            }
            if isFirst {
                lines.attributes += transport.candidates.map {
                    .init("candidate", $0.hasPrefix("candidate:") ? String($0.dropFirst(10)) : $0)
                }
                isFirst = false
            }
            message.sections.append(lines)
        }
        return message
    }

    private func section(_ section: Section, offered: SDPMessage.Section?) -> SDPMessage.Section {
        var lines: SDPMessage.Section
        switch section.media {
        case .unknown(let theirs):
            lines = SDPMessage.Section(media: theirs.media, port: 0, proto: theirs.proto, formats: theirs.formats)
            lines.attributes = [.init("mid", section.mid)]
            return lines
        case .application:
            lines = SDPMessage.Section(
                media: "application", port: section.isRejected ? 0 : 9, proto: "UDP/DTLS/SCTP",
                formats: ["webrtc-datachannel"])
            lines.lines = [.init("c", "IN IP4 0.0.0.0")]
            lines.attributes = [.init("mid", section.mid)]
            return lines
        case .media(let kind):
            let formats = section.codecs.map { String($0.payloadType) }
            lines = SDPMessage.Section(
                media: kind.rawValue, port: section.isRejected ? 0 : 9, proto: offered?.proto ?? "UDP/TLS/RTP/SAVPF",
                formats: formats.isEmpty ? offered?.formats ?? ["0"] : formats)
            lines.lines = [.init("c", "IN IP4 0.0.0.0")]
            lines.attributes = [.init("mid", section.mid)]
        }
        guard !section.isRejected else { return lines }
        let direction: MediaDirection
        if let offered {
            let theirs = offered.direction.reversed
            direction = MediaDirection(
                sends: section.direction.sends && theirs.sends, receives: section.direction.receives && theirs.receives)
        } else {
            direction = section.direction
        }
        lines.attributes += [.init(direction.rawValue), .init("rtcp-mux"), .init("rtcp-rsize")]
        for item in section.extensions { lines.attributes.append(.init("extmap", "\(item.id) \(item.uri)")) }
        if direction.sends, let msid = section.msid {
            lines.attributes.append(.init("msid", "\(msid.stream) \(msid.track)"))
        }
        for codec in section.codecs {
            let channels = codec.channels > 1 ? "/\(codec.channels)" : ""
            let type = codec.payloadType
            lines.attributes.append(.init("rtpmap", "\(type) \(codec.name)/\(codec.clockRate)\(channels)"))
            for feedback in codec.feedback { lines.attributes.append(.init("rtcp-fb", "\(type) \(feedback)")) }
            if let parameters = codec.parameters, !parameters.isEmpty {
                lines.attributes.append(.init("fmtp", "\(type) \(parameters)"))
            }
        }
        if direction.sends {
            lines.attributes.append(.init("ssrc", "\(section.ssrc) cname:\(cname)"))
            if let msid = section.msid {
                lines.attributes.append(.init("ssrc", "\(section.ssrc) msid:\(msid.stream) \(msid.track)"))
            }
        }
        return lines
    }

    // MARK: Applying descriptions

    mutating func setLocal(_ kind: SessionDescription.Kind, _ message: SDPMessage) throws(NegotiationError) {
        switch (kind, state) {
        case (.offer, .stable), (.offer, .haveLocalOffer):
            state = .haveLocalOffer
        case (.answer, .haveRemoteOffer):
            state = .stable
            guard let remote else { return }
            for index in sections.indices where index < message.sections.count && index < remote.sections.count {
                settle(index, local: message.sections[index], remote: remote.sections[index])
            }
        default:
            throw .wrongState("the local \(kind) does not fit the signaling state \(state.rawValue)")
        }
    }

    /// Applies the peer's description. Sections of an offer that are new get a place here: `newSections` are their
    /// indices.
    mutating func setRemote(
        _ kind: SessionDescription.Kind, _ message: SDPMessage, localOffer: SDPMessage?
    ) throws(NegotiationError) -> (newSections: [Int], transport: SDPTransport) {
        guard let transport = message.transport else { throw .missingTransport }
        switch (kind, state) {
        case (.offer, .stable):
            let added = try applyOffer(message)
            state = .haveRemoteOffer
            remote = message
            return (added, transport)
        case (.answer, .haveLocalOffer):
            guard let localOffer else { throw .wrongState("an answer came without an offer") }
            guard message.sections.count == localOffer.sections.count else {
                throw .sectionMismatch(
                    "the answer has \(message.sections.count) media sections, the offer \(localOffer.sections.count)")
            }
            for (index, pair) in zip(localOffer.sections, message.sections).enumerated() {
                guard pair.0.media == pair.1.media else {
                    throw .sectionMismatch(
                        "section \(index) is \(pair.1.media) in the answer, \(pair.0.media) in the offer")
                }
                settle(index, local: pair.0, remote: pair.1)
            }
            state = .stable
            remote = message
            return ([], transport)
        default:
            throw .wrongState("the peer's \(kind) does not fit the signaling state \(state.rawValue)")
        }
    }

    /// Takes a local offer back (RFC 8829 section 4.1.10.2).
    mutating func rollback() {
        if state == .haveLocalOffer { state = .stable }
    }

    private mutating func applyOffer(_ message: SDPMessage) throws(NegotiationError) -> [Int] {
        guard message.sections.count >= sections.count else {
            throw .sectionMismatch(
                "the offer has \(message.sections.count) media sections where there were \(sections.count)")
        }
        var added: [Int] = []
        for (index, offered) in message.sections.enumerated() {
            if index >= sections.count {
                sections.append(Self.newSection(offered, index: index))
                added.append(index)
            }
            if let mid = offered.mid { sections[index].mid = mid }
            guard case .media(let kind) = sections[index].media else {
                sections[index].isRejected = sections[index].media != .application || offered.port == 0
                continue
            }
            let codecs = Codecs.answered(kind, offered: offered.codecs, red: allowsRED)
            sections[index].codecs = codecs
            sections[index].extensions = Codecs.answered(offered.extensions)
            sections[index].isRejected = codecs.isEmpty || (offered.port == 0 && !offered.attributes.has("bundle-only"))
            sections[index].remoteMsid = offered.direction.sends ? offered.msid : nil
            sections[index].remoteSSRCs = offered.ssrcs
        }
        return added
    }

    private static func newSection(_ offered: SDPMessage.Section, index: Int) -> Section {
        let media: Media
        switch offered.media {
        case "audio": media = .media(.audio)
        case "video": media = .media(.video)
        case "application": media = .application
        default: media = .unknown(offered)
        }
        // What the peer sends is received, if it is audio; what it wants is decided by the owner of the section.
        let receives = media == .media(.audio) && offered.direction.sends
        return Section(
            media: media, mid: offered.mid ?? String(index),
            direction: media == .application ? .sendrecv : MediaDirection(sends: false, receives: receives),
            ssrc: .random(in: 1 ... .max), codecs: [], extensions: [])
    }

    private mutating func settle(_ index: Int, local: SDPMessage.Section, remote: SDPMessage.Section) {
        guard index < sections.count else { return }
        guard case .media = sections[index].media else {
            sections[index].isRejected = remote.port == 0
            return
        }
        if remote.port == 0 {
            sections[index].currentDirection = .inactive
            sections[index].agreed = nil
            return
        }
        let theirs = remote.direction.reversed
        sections[index].currentDirection = MediaDirection(
            sends: local.direction.sends && theirs.sends, receives: local.direction.receives && theirs.receives)
        sections[index].remoteMsid = remote.direction.sends ? remote.msid : nil
        sections[index].remoteSSRCs = remote.ssrcs
        // The peer's parameters say what it wants to receive; extensions must be in both lists.
        let extensions = remote.extensions.filter { local.extensions.contains($0) }
        let codecs = remote.codecs.filter { codec in local.codecs.contains { $0.payloadType == codec.payloadType } }
        sections[index].agreed = NegotiatedAudio(codecs: codecs, extensions: extensions)
    }
}
