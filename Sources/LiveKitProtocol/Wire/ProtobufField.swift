/// One declared field of `Message`: its number, name and type, and how it is read and written.
///
/// A reference, because decoding hands fields around a lot and only their identity matters.
public final class ProtobufField<Message>: Sendable {
    public let declaration: ProtobufDeclaration
    let number: Int
    let wireType: ProtobufDecoder.WireType
    /// Whether the field also accepts its values packed into one length-delimited value.
    let acceptsPacked: Bool
    let decode: @Sendable (inout Message, inout ProtobufDecoder, ProtobufDecoder.WireType) throws(ProtobufError) -> Void
    let encode: @Sendable (Message, inout ProtobufEncoder) -> Void

    init(
        _ declaration: ProtobufDeclaration,
        decode:
            @escaping @Sendable (inout Message, inout ProtobufDecoder, ProtobufDecoder.WireType)
            throws(ProtobufError) -> Void,
        encode: @escaping @Sendable (Message, inout ProtobufEncoder) -> Void
    ) {
        self.declaration = declaration
        number = declaration.number
        wireType = declaration.label == .map ? .lengthDelimited : declaration.type.wireType
        acceptsPacked = declaration.label == .repeated && declaration.type.isPackable
        self.decode = decode
        self.encode = encode
    }
}

extension ProtobufField {
    static func scalar<Value>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, Value> & Sendable,
        _ scalar: ProtobufScalar<Value>
    ) -> ProtobufField {
        ProtobufField(
            .init(number: number, name: name, type: scalar.type, label: .singular, keyType: nil, oneof: nil),
            decode: { message, decoder, _ throws(ProtobufError) in
                message[keyPath: path] = try scalar.read(&decoder)
            },
            encode: { message, encoder in
                let value = message[keyPath: path]
                guard scalar.isWritten(value) else { return }
                encoder.tag(number, scalar.wireType)
                scalar.write(value, &encoder)
            })
    }

    static func optional<Value>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, Value?> & Sendable,
        _ scalar: ProtobufScalar<Value>
    ) -> ProtobufField {
        ProtobufField(
            .init(number: number, name: name, type: scalar.type, label: .optional, keyType: nil, oneof: nil),
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
        let isPackable = scalar.type.isPackable
        return ProtobufField(
            .init(number: number, name: name, type: scalar.type, label: .repeated, keyType: nil, oneof: nil),
            decode: { message, decoder, type throws(ProtobufError) in
                guard isPackable else {
                    try decoder.countElement()
                    message[keyPath: path].append(try scalar.read(&decoder))
                    return
                }
                guard type == .lengthDelimited else {
                    message[keyPath: path].append(try scalar.read(&decoder))
                    return
                }
                var values: [Value] = []
                try decoder.nested { content throws(ProtobufError) in
                    while !content.isAtEnd { values.append(try scalar.read(&content)) }
                }
                message[keyPath: path].append(contentsOf: values)
            },
            encode: { message, encoder in
                let values = message[keyPath: path]
                guard !values.isEmpty else { return }
                guard isPackable else {
                    for value in values {
                        encoder.tag(number, scalar.wireType)
                        scalar.write(value, &encoder)
                    }
                    return
                }
                encoder.tag(number, .lengthDelimited)
                encoder.delimited { for value in values { scalar.write(value, &$0) } }
            })
    }

    /// A scalar case of a oneof: the case that comes last on the wire is the one that is set.
    static func oneof<Value, Cases>(
        _ number: Int, _ name: String, _ oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Value) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Value?,
        _ scalar: ProtobufScalar<Value>
    ) -> ProtobufField {
        ProtobufField(
            .init(number: number, name: name, type: scalar.type, label: .singular, keyType: nil, oneof: oneof),
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
