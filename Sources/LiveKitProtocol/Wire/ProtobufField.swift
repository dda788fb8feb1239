/// One declared field of `Message`: its number, name and type, and how it is read and written.
public struct ProtobufField<Message>: Sendable {
    /// How often the field may occur.
    public enum Label: String, Sendable {
        case singular, optional, repeated, map
    }

    public let number: Int
    /// The name in the `.proto` file, in snake_case.
    public let name: String
    /// The scalar type as written in the `.proto` file, or the full name of the message or enum; `map<K, V>` for maps.
    public let type: String
    public let label: Label
    /// The oneof that the field is a case of.
    public let oneof: String?

    let wireType: ProtobufDecoder.WireType
    /// Whether a repeated scalar may also come packed into one length-delimited value.
    let isPackable: Bool
    let decode: @Sendable (inout Message, inout ProtobufDecoder, ProtobufDecoder.WireType) throws(ProtobufError) -> Void
    let encode: @Sendable (Message, inout ProtobufEncoder) -> Void
}

/// A scalar type of the protocol: how one value is read and written.
struct ProtobufScalar<Value: Equatable & Sendable>: Sendable {
    let name: String
    let wireType: ProtobufDecoder.WireType
    let zero: Value
    let read: @Sendable (inout ProtobufDecoder) throws(ProtobufError) -> Value
    let write: @Sendable (Value, inout ProtobufEncoder) -> Void
}

extension ProtobufField {
    static func scalar<Value>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, Value> & Sendable,
        _ scalar: ProtobufScalar<Value>
    ) -> ProtobufField {
        ProtobufField(
            number: number, name: name, type: scalar.name, label: .singular, oneof: nil, wireType: scalar.wireType,
            isPackable: false,
            decode: { message, decoder, _ throws(ProtobufError) in
                message[keyPath: path] = try scalar.read(&decoder)
            },
            encode: { message, encoder in
                let value = message[keyPath: path]
                guard value != scalar.zero else { return }
                encoder.tag(number, scalar.wireType)
                scalar.write(value, &encoder)
            })
    }

    static func optional<Value>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, Value?> & Sendable,
        _ scalar: ProtobufScalar<Value>
    ) -> ProtobufField {
        ProtobufField(
            number: number, name: name, type: scalar.name, label: .optional, oneof: nil, wireType: scalar.wireType,
            isPackable: false,
            decode: { message, decoder, _ throws(ProtobufError) in
                message[keyPath: path] = try scalar.read(&decoder)
            },
            encode: { message, encoder in
                guard let value = message[keyPath: path] else { return }
                encoder.tag(number, scalar.wireType)
                scalar.write(value, &encoder)
            })
    }

    static func repeated<Value>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [Value]> & Sendable,
        _ scalar: ProtobufScalar<Value>
    ) -> ProtobufField {
        let packable = scalar.wireType != .lengthDelimited
        return ProtobufField(
            number: number, name: name, type: scalar.name, label: .repeated, oneof: nil, wireType: scalar.wireType,
            isPackable: packable,
            decode: { message, decoder, type throws(ProtobufError) in
                guard packable && type == .lengthDelimited else {
                    message[keyPath: path].append(try scalar.read(&decoder))
                    return
                }
                var content = try decoder.nested()
                while !content.isAtEnd { message[keyPath: path].append(try scalar.read(&content)) }
            },
            encode: { message, encoder in
                let values = message[keyPath: path]
                guard !values.isEmpty else { return }
                guard packable else {
                    for value in values {
                        encoder.tag(number, scalar.wireType)
                        scalar.write(value, &encoder)
                    }
                    return
                }
                var content = ProtobufEncoder()
                for value in values { scalar.write(value, &content) }
                encoder.tag(number, .lengthDelimited)
                encoder.delimited(content.bytes)
            })
    }

    /// A case of a oneof. A message case that comes twice is merged, as protobuf has it.
    static func oneof<Value, Cases>(
        _ number: Int, _ name: String, _ oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Value) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Value?,
        _ scalar: ProtobufScalar<Value>
    ) -> ProtobufField {
        ProtobufField(
            number: number, name: name, type: scalar.name, label: .singular, oneof: oneof, wireType: scalar.wireType,
            isPackable: false,
            decode: { message, decoder, _ throws(ProtobufError) in
                message[keyPath: path] = wrap(try scalar.read(&decoder))
            },
            encode: { message, encoder in
                guard let cases = message[keyPath: path], let value = unwrap(cases) else { return }
                encoder.tag(number, scalar.wireType)
                scalar.write(value, &encoder)
            })
    }
}
