/// A session description (RFC 8866) as it stands in the text: every line is kept, in order, known or not.
public struct SDPMessage: Sendable, Equatable {
    /// `a=name` or `a=name:value`.
    public struct Attribute: Sendable, Equatable {
        public var name: String
        public var value: String?

        public init(_ name: String, _ value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    /// An `m=` line and the lines under it.
    public struct Section: Sendable, Equatable {
        /// `audio`, `video` or `application`.
        public var media: String
        /// 0 when the section is rejected (RFC 8829 section 5.2.1).
        public var port: UInt16
        /// Such as `UDP/TLS/RTP/SAVPF`.
        public var proto: String
        /// Payload types, or `webrtc-datachannel`.
        public var formats: [String]
        /// Lines other than attributes, such as `c=` and `b=`, as type and value.
        public var lines: [Line] = []
        public var attributes: [Attribute] = []

        public init(media: String, port: UInt16 = 9, proto: String, formats: [String]) {
            self.media = media
            self.port = port
            self.proto = proto
            self.formats = formats
        }
    }

    /// A line that is not an attribute: its type letter and its value.
    public struct Line: Sendable, Equatable {
        public var type: Character
        public var value: String

        public init(_ type: Character, _ value: String) {
            self.type = type
            self.value = value
        }
    }

    /// Session-level lines but attributes: `v`, `o`, `s`, `t` and so on.
    public var lines: [Line] = []
    public var attributes: [Attribute] = []
    public var sections: [Section] = []

    public init() {}
}

/// Why text is not a session description.
public enum SDPError: Error, Sendable, Equatable, CustomStringConvertible {
    case tooLarge(bytes: Int)
    case tooManyLines(Int)
    case tooManySections(Int)
    /// A line that is not `x=value`; counted from 1.
    case malformedLine(Int)
    case malformedMedia(Int)
    case missingVersion

    public var description: String {
        switch self {
        case .tooLarge(let bytes): "the session description has \(bytes) bytes, more than \(SDPMessage.maximumSize)"
        case .tooManyLines(let count):
            "the session description has \(count) lines, more than \(SDPMessage.maximumLines)"
        case .tooManySections(let count):
            "the session description has \(count) media sections, more than \(SDPMessage.maximumSections)"
        case .malformedLine(let line): "line \(line) of the session description is malformed"
        case .malformedMedia(let line): "the media line \(line) of the session description is malformed"
        case .missingVersion: "the session description does not start with v=0"
        }
    }
}

extension SDPMessage {
    /// Bytes.
    public static let maximumSize = 1 << 20
    public static let maximumLines = 20_000
    public static let maximumSections = 512

    /// Parses a description; both `\r\n` and `\n` end lines.
    /// - Throws: ``SDPError``.
    public init(parsing text: String) throws(SDPError) {
        guard text.utf8.count <= Self.maximumSize else { throw .tooLarge(bytes: text.utf8.count) }
        let texts = text.utf8.split(omittingEmptySubsequences: true) { $0 == 0x0a || $0 == 0x0d }
        guard texts.count <= Self.maximumLines else { throw .tooManyLines(texts.count) }
        for (index, bytes) in texts.enumerated() {
            let line = Substring(bytes)
            guard let type = line.first, line.dropFirst().first == "=" else { throw .malformedLine(index + 1) }
            let value = String(line.dropFirst(2))
            if index == 0 {
                guard type == "v", value == "0" else { throw .missingVersion }
            }
            try add(type: type, value: value, number: index + 1)
        }
        guard !texts.isEmpty else { throw .missingVersion }
    }

    private mutating func add(type: Character, value: String, number: Int) throws(SDPError) {
        if type == "m" {
            guard sections.count < Self.maximumSections else { throw .tooManySections(sections.count + 1) }
            sections.append(try Self.section(value, number: number))
            return
        }
        let last = sections.count - 1
        if type == "a" {
            let attribute = Attribute(parsing: value)
            if last >= 0 { sections[last].attributes.append(attribute) } else { attributes.append(attribute) }
        } else {
            let line = Line(type, value)
            if last >= 0 { sections[last].lines.append(line) } else { lines.append(line) }
        }
    }

    private static func section(_ value: String, number: Int) throws(SDPError) -> Section {
        let parts = value.split(separator: " ")
        // A port may carry a count ("9/2"), which WebRTC does not use.
        guard parts.count >= 4, let port = parts[1].split(separator: "/").first.flatMap({ UInt16($0) }) else {
            throw .malformedMedia(number)
        }
        return Section(
            media: String(parts[0]), port: port, proto: String(parts[2]), formats: parts[3...].map(String.init))
    }

    /// The description as text, with `\r\n` after every line.
    public var text: String {
        var text = ""
        func put(_ lines: [Line], _ attributes: [Attribute]) {
            for line in lines { text += "\(line.type)=\(line.value)\r\n" }
            for attribute in attributes { text += "a=\(attribute)\r\n" }
        }
        put(lines, attributes)
        for section in sections {
            let formats = section.formats.joined(separator: " ")
            text += "m=\(section.media) \(section.port) \(section.proto) \(formats)\r\n"
            put(section.lines, section.attributes)
        }
        return text
    }
}

extension SDPMessage.Attribute: CustomStringConvertible {
    init(parsing text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts.first ?? "")
        value = parts.count > 1 ? String(parts[1]) : nil
    }

    public var description: String {
        value.map { "\(name):\($0)" } ?? name
    }
}

extension [SDPMessage.Attribute] {
    /// The value of the first attribute of that name; empty for a flag.
    func value(_ name: String) -> String? {
        first { $0.name == name }.map { $0.value ?? "" }
    }

    func values(_ name: String) -> [String] {
        filter { $0.name == name }.map { $0.value ?? "" }
    }

    func has(_ name: String) -> Bool {
        contains { $0.name == name }
    }
}
