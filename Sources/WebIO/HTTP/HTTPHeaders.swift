/// Header fields of an HTTP message: ordered, names compared without regard to case (RFC 9110, section 5).
public struct HTTPHeaders: Sendable, Equatable {
    /// The fields in the order in which they were added or received.
    public private(set) var fields: [Field] = []

    /// One field line.
    public struct Field: Sendable, Equatable {
        public var name: String
        public var value: String
    }

    public init() {}

    public init(_ fields: [(String, String)]) {
        for (name, value) in fields { add(name, value) }
    }

    /// Adds a field after the others, also when there is one of that name.
    public mutating func add(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The value of the first field of that name; setting replaces every field of that name, `nil` removes them.
    public subscript(name: String) -> String? {
        get {
            fields.first { $0.name.equalsIgnoringCase(name) }?.value
        }
        set {
            fields.removeAll { $0.name.equalsIgnoringCase(name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// All values of that name, in order.
    public func values(_ name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// Whether a comma-separated field such as `Connection` holds `token`, without regard to case.
    public func contains(token: String, in name: String) -> Bool {
        values(name).contains { value in
            value.split(separator: ",").contains { String($0).trimmingBlanks.equalsIgnoringCase(token) }
        }
    }

    /// Why the fields cannot be sent: a name that is no token, or a value with a line break or another control
    /// character (which would let a value add fields of its own). `nil` when all is well.
    var invalidField: String? {
        for field in fields {
            if field.name.isEmpty || !field.name.utf8.allSatisfy(isTokenCharacter) {
                return "the header name \"\(printable(field.name))\" is not valid"
            }
            if field.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
                return "the value of the header \(field.name) holds a line break or another control character"
            }
        }
        return nil
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements)
    }
}

/// `tchar` of RFC 9110, section 5.6.2.
private func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default:
        "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
