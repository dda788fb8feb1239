import CYAML

/// A node of a YAML document, with the place where it stands.
public struct YAMLNode: Sendable, Equatable {
    public indirect enum Value: Sendable, Equatable {
        /// A plain or quoted scalar; `isPlain` is false for quoted ones, which are always text.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// In the order of the file; keys are unique.
        case mapping([Entry])
    }

    /// One key of a mapping with its value.
    public struct Entry: Sendable, Equatable {
        public var key: String
        public var place: YAMLPlace
        public var value: YAMLNode
    }

    public var value: Value
    public var place: YAMLPlace

    /// The value of a key; nil when there is none, or this is no mapping.
    public subscript(key: String) -> YAMLNode? {
        entries?.first { $0.key == key }?.value
    }

    public var entries: [Entry]? {
        if case .mapping(let entries) = value { entries } else { nil }
    }

    public var items: [YAMLNode]? {
        if case .sequence(let items) = value { items } else { nil }
    }

    /// The text of a scalar; nil for null and for collections.
    public var string: String? {
        guard case .scalar(let text, let isPlain) = value else { return nil }
        return isPlain && ["", "~", "null", "Null", "NULL"].contains(text) ? nil : text
    }

    /// true and false, as YAML 1.2's core schema has them, and yes and no.
    public var bool: Bool? {
        guard case .scalar(let text, true) = value else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: return nil
        }
    }

    public var int: Int? {
        if case .scalar(let text, true) = value { Int(text) } else { nil }
    }

    public var double: Double? {
        if case .scalar(let text, true) = value { Double(text) } else { nil }
    }
}

/// A line and column of a file, counted from 1.
public struct YAMLPlace: Sendable, Equatable, CustomStringConvertible {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public var description: String { "\(line):\(column)" }
}

/// Why a text is not the YAML that it should be.
public struct YAMLError: Error, Sendable, Equatable, CustomStringConvertible {
    public var place: YAMLPlace
    public var message: String

    public init(_ message: String, at place: YAMLPlace) {
        self.message = message
        self.place = place
    }

    /// `line:column: what is wrong`; put the file's name before it.
    public var description: String { "\(place): \(message)" }
}

extension YAMLNode {
    /// Bytes of a document.
    public static let maximumSize = 4 << 20
    /// Levels of nesting, and nodes of a document with its aliases expanded.
    static let maximumDepth = 64
    static let maximumNodes = 100_000

    /// Parses one document through libyaml. An empty document is an empty mapping.
    /// - Throws: ``YAMLError`` with the place of the fault; also for more than one document, duplicate keys and keys
    ///   that are no scalars.
    public static func parse(_ text: String) throws(YAMLError) -> YAMLNode {
        guard text.utf8.count <= maximumSize else {
            throw YAMLError("the file is larger than \(maximumSize) bytes", at: YAMLPlace(line: 1, column: 1))
        }
        let bytes = Array(text.utf8)
        let result = bytes.withUnsafeBufferPointer { buffer -> Result<YAMLNode, YAMLError> in
            do throws(YAMLError) {
                return .success(try parse(buffer))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(YAMLError) -> YAMLNode {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else {
            throw YAMLError("out of memory", at: YAMLPlace(line: 1, column: 1))
        }
        defer { yaml_parser_delete(&parser) }
        yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
        var document = yaml_document_t()
        guard yaml_parser_load(&parser, &document) == 1 else { throw error(of: parser) }
        defer { yaml_document_delete(&document) }
        guard yaml_document_get_root_node(&document) != nil else {
            return YAMLNode(value: .mapping([]), place: YAMLPlace(line: 1, column: 1))
        }
        var second = yaml_document_t()
        guard yaml_parser_load(&parser, &second) == 1 else { throw error(of: parser) }
        defer { yaml_document_delete(&second) }
        if yaml_document_get_root_node(&second) != nil {
            throw YAMLError("a second document starts here; one is expected", at: place(second.start_mark))
        }
        var budget = maximumNodes
        return try node(1, of: &document, depth: 0, budget: &budget)
    }

    private static func error(of parser: yaml_parser_t) -> YAMLError {
        let problem = parser.problem.map { String(cString: $0) } ?? "it is not YAML"
        return YAMLError(problem, at: place(parser.problem_mark))
    }

    private static func place(_ mark: yaml_mark_t) -> YAMLPlace {
        YAMLPlace(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    private static func node(
        _ index: Int32, of document: inout yaml_document_t, depth: Int, budget: inout Int
    ) throws(YAMLError) -> YAMLNode {
        guard let pointer = yaml_document_get_node(&document, index) else {
            throw YAMLError("a node is missing", at: YAMLPlace(line: 1, column: 1))
        }
        let raw = pointer.pointee
        let place = place(raw.start_mark)
        budget -= 1
        // An alias inside its own anchor would nest without end.
        guard depth < maximumDepth else { throw YAMLError("it nests deeper than \(maximumDepth) levels", at: place) }
        guard budget >= 0 else { throw YAMLError("the file has more than \(maximumNodes) values", at: place) }
        switch raw.type {
        case YAML_SCALAR_NODE:
            let scalar = raw.data.scalar
            let text = String(
                decoding: UnsafeBufferPointer(start: scalar.value, count: Int(scalar.length)), as: UTF8.self)
            return YAMLNode(value: .scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE), place: place)
        case YAML_SEQUENCE_NODE:
            let list = raw.data.sequence.items
            var items: [YAMLNode] = []
            var position = list.start
            while let current = position, current != list.top {
                items.append(try node(current.pointee, of: &document, depth: depth + 1, budget: &budget))
                position = current + 1
            }
            return YAMLNode(value: .sequence(items), place: place)
        default:
            let list = raw.data.mapping.pairs
            var entries: [Entry] = []
            var names: Set<String> = []
            var position = list.start
            while let current = position, current != list.top {
                let key = try node(current.pointee.key, of: &document, depth: depth + 1, budget: &budget)
                guard case .scalar(let name, _) = key.value else {
                    throw YAMLError("a key has to be text", at: key.place)
                }
                guard names.insert(name).inserted else {
                    throw YAMLError("the key \(name) is there twice", at: key.place)
                }
                let value = try node(current.pointee.value, of: &document, depth: depth + 1, budget: &budget)
                entries.append(Entry(key: name, place: key.place, value: value))
                position = current + 1
            }
            return YAMLNode(value: .mapping(entries), place: place)
        }
    }
}
