/// `a=rtpmap` and what belongs to it: one payload type of a media section.
struct SDPCodec: Sendable, Equatable {
    var payloadType: UInt8
    /// Such as `opus`; compared without case.
    var name: String
    /// Hz.
    var clockRate: UInt32
    /// Audio channels; 1 where the line has none.
    var channels: UInt8 = 1
    /// The `a=fmtp` parameters as they stand.
    var parameters: FormatParameters?
    /// `a=rtcp-fb` values such as `nack` and `transport-cc`.
    var feedback: [String] = []

    func isNamed(_ other: String) -> Bool { name.lowercased() == other }
}

/// The value of an `a=fmtp` line (RFC 7587 section 6.1 for Opus): parameters are told apart exactly, since
/// `sprop-stereo=1` contains `stereo=1`.
struct FormatParameters: Sendable, Equatable, CustomStringConvertible {
    private var items: [(name: String, value: String?)] = []

    init() {}

    init(parsing text: String) {
        for part in text.split(separator: ";").prefix(64) {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard let name = pair.first?.trimmed, !name.isEmpty else { continue }
            items.append((name, pair.count > 1 ? pair[1].trimmed : nil))
        }
    }

    subscript(name: String) -> String? {
        get { items.first { $0.name == name }.map { $0.value ?? "" } }
        set {
            if let index = items.firstIndex(where: { $0.name == name }) {
                if let newValue { items[index].value = newValue } else { items.remove(at: index) }
            } else if let newValue {
                items.append((name, newValue))
            }
        }
    }

    /// Whether the parameter is there and is `1`.
    func isSet(_ name: String) -> Bool { self[name] == "1" }

    var isEmpty: Bool { items.isEmpty }

    var description: String {
        items.map { item in item.value.map { "\(item.name)=\($0)" } ?? item.name }.joined(separator: ";")
    }

    static func == (lhs: FormatParameters, rhs: FormatParameters) -> Bool {
        lhs.description == rhs.description
    }
}

/// `a=extmap` (RFC 8285 section 5).
struct SDPExtension: Sendable, Equatable {
    var id: UInt8
    var uri: String
}

extension StringProtocol {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first == " " { text = text.dropFirst() }
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}

extension SDPMessage.Section {
    var mid: String? { attributes.value("mid") }

    /// `sendrecv` where there is none (RFC 8866 section 6.7).
    var direction: MediaDirection {
        for attribute in attributes {
            if let direction = MediaDirection(rawValue: attribute.name) { return direction }
        }
        return .sendrecv
    }

    /// The codecs in the order of preference.
    var codecs: [SDPCodec] {
        var maps: [String: (String, UInt32, UInt8)] = [:]
        var parameters: [String: FormatParameters] = [:]
        var feedback: [String: [String]] = [:]
        for attribute in attributes {
            guard let value = attribute.value else { continue }
            let parts = value.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let type = String(parts[0])
            switch attribute.name {
            case "rtpmap":
                let fields = parts[1].split(separator: "/")
                guard fields.count >= 2, let rate = UInt32(fields[1]) else { continue }
                maps[type] = (String(fields[0]), rate, fields.count > 2 ? UInt8(fields[2]) ?? 1 : 1)
            case "fmtp":
                parameters[type] = FormatParameters(parsing: String(parts[1]))
            case "rtcp-fb":
                feedback[type, default: []].append(String(parts[1]))
            default: break
            }
        }
        return formats.compactMap { format in
            guard let type = UInt8(format), type < 128, let map = maps[format] else { return nil }
            return SDPCodec(
                payloadType: type, name: map.0, clockRate: map.1, channels: map.2, parameters: parameters[format],
                feedback: (feedback[format] ?? []) + (feedback["*"] ?? []))
        }
    }

    var extensions: [SDPExtension] {
        attributes.values("extmap").compactMap { value in
            let parts = value.split(separator: " ")
            guard parts.count >= 2, let id = parts[0].split(separator: "/").first.flatMap({ UInt8($0) }), id > 0,
                id < 255
            else { return nil }
            return SDPExtension(id: id, uri: String(parts[1]))
        }
    }

    /// `a=msid:<stream> <track>` (RFC 8830). A stream alone stands for both.
    var msid: MediaStreamID? {
        guard let value = attributes.value("msid") else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
        guard let stream = parts.first, stream != "-" else { return nil }
        return MediaStreamID(stream: stream, track: parts.count > 1 ? parts[1] : stream)
    }

    /// The sources that `a=ssrc` lines announce (RFC 5576), in order, each once.
    var ssrcs: [UInt32] {
        var result: [UInt32] = []
        for value in attributes.values("ssrc") {
            guard let ssrc = value.split(separator: " ").first.flatMap({ UInt32($0) }), !result.contains(ssrc) else {
                continue
            }
            result.append(ssrc)
        }
        return result
    }

    /// Bytes; 65,536 where there is none (RFC 8841 section 6), 0 for no limit.
    var maxMessageSize: Int {
        attributes.value("max-message-size").flatMap { Int($0) }.map { max(0, $0) } ?? 65_536
    }
}

/// The ICE and DTLS parameters of a description: those of its first bundled section, or of the session.
struct SDPTransport: Sendable, Equatable {
    var iceUfrag: String
    var icePwd: String
    var fingerprints: [DTLSFingerprint]
    /// `actpass`, `active` or `passive`.
    var setup: String
    var isICELite: Bool
    /// `a=candidate` lines without `a=`, of all sections.
    var candidates: [String]
    var endOfCandidates: Bool
}

extension SDPMessage {
    /// The bundled transport; nil when credentials or fingerprint are missing everywhere.
    var transport: SDPTransport? {
        let live = sections.filter { $0.port != 0 || $0.attributes.has("bundle-only") }
        func find(_ name: String) -> String? {
            for section in live {
                if let value = section.attributes.value(name) { return value }
            }
            return attributes.value(name)
        }
        guard let ufrag = find("ice-ufrag"), let pwd = find("ice-pwd") else { return nil }
        let lists = live.map(\.attributes) + [attributes]
        let fingerprints = lists.lazy.map { $0.values("fingerprint") }.first { !$0.isEmpty } ?? []
        return SDPTransport(
            iceUfrag: ufrag, icePwd: pwd,
            fingerprints: fingerprints.compactMap { value in
                let parts = value.split(separator: " ")
                guard parts.count == 2 else { return nil }
                return DTLSFingerprint(algorithm: String(parts[0]), value: String(parts[1]))
            },
            setup: find("setup") ?? "actpass", isICELite: attributes.has("ice-lite"),
            candidates: live.flatMap { $0.attributes.values("candidate") }.map { "candidate:" + $0 },
            endOfCandidates: live.contains { $0.attributes.has("end-of-candidates") })
    }
}
