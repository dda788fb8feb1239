// Fields that hold messages. A message that comes twice is merged into the first, as protobuf has it.

extension ProtobufField {
    static func message<M: ProtobufMessage>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, M?> & Sendable
    ) -> ProtobufField {
        ProtobufField(
            .init(number: number, name: name, type: .message(M.self), label: .singular, keyType: nil, oneof: nil),
            decode: { message, decoder, _ throws(ProtobufError) in
                var value = message[keyPath: path] ?? M()
                try decoder.nested { content throws(ProtobufError) in try value.merge(from: &content) }
                message[keyPath: path] = value
            },
            encode: { message, encoder in
                guard let value = message[keyPath: path] else { return }
                encoder.tag(number, .lengthDelimited)
                encoder.delimited { value.encode(into: &$0) }
            })
    }

    static func message<M: ProtobufMessage, Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (M) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> M?
    ) -> ProtobufField {
        ProtobufField(
            .init(number: number, name: name, type: .message(M.self), label: .singular, keyType: nil, oneof: oneof),
            decode: { message, decoder, _ throws(ProtobufError) in
                var value = message[keyPath: path].flatMap(unwrap) ?? M()
                try decoder.nested { content throws(ProtobufError) in try value.merge(from: &content) }
                message[keyPath: path] = wrap(value)
            },
            encode: { message, encoder in
                guard let cases = message[keyPath: path], let value = unwrap(cases) else { return }
                encoder.tag(number, .lengthDelimited)
                encoder.delimited { value.encode(into: &$0) }
            })
    }

    static func repeatedMessage<M: ProtobufMessage>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [M]> & Sendable
    ) -> ProtobufField {
        repeated(number, name, path, .message)
    }

    static func stringMap(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [String: String]> & Sendable
    ) -> ProtobufField {
        map(number, name, path, key: .string, value: .string)
    }

    static func messageMap<M: ProtobufMessage>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt32: M]> & Sendable
    ) -> ProtobufField {
        map(number, name, path, key: .uint32, value: .message)
    }

    /// A map: on the wire, repeated entries of a key (field 1) and a value (field 2), written in the order of the keys.
    private static func map<Key: Hashable & Comparable & Sendable, Value>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [Key: Value]> & Sendable,
        key: ProtobufScalar<Key>, value: ProtobufScalar<Value>
    ) -> ProtobufField {
        ProtobufField(
            .init(number: number, name: name, type: value.type, label: .map, keyType: key.type, oneof: nil),
            decode: { message, decoder, _ throws(ProtobufError) in
                try decoder.countElement()
                var entryKey = key.zero
                var entryValue = value.zero
                try decoder.nested { entry throws(ProtobufError) in
                    while !entry.isAtEnd {
                        let (field, type) = try entry.tag()
                        if field == 1 && type == key.wireType {
                            entryKey = try key.read(&entry)
                        } else if field == 2 && type == value.wireType {
                            entryValue = try value.read(&entry)
                        } else {
                            try entry.skip(type, number: field)
                        }
                    }
                }
                message[keyPath: path][entryKey] = entryValue
            },
            encode: { message, encoder in
                for (entryKey, entryValue) in message[keyPath: path].sorted(by: { $0.key < $1.key }) {
                    encoder.tag(number, .lengthDelimited)
                    encoder.delimited { entry in
                        entry.tag(1, key.wireType)
                        key.write(entryKey, &entry)
                        entry.tag(2, value.wireType)
                        value.write(entryValue, &entry)
                    }
                }
            })
    }
}
