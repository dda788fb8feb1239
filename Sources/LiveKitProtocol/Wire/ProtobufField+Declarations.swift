// How the messages declare their fields: `.string(2, "name", \.name)`.

extension ProtobufField {
    static func double(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Double> & Sendable) -> Self {
        scalar(number, name, path, .double)
    }

    static func optionalDouble(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Double?> & Sendable)
        -> Self
    {
        optional(number, name, path, .double)
    }

    static func repeatedDouble(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [Double]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .double)
    }

    static func double<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Double) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Double?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .double)
    }

    static func float(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Float> & Sendable) -> Self {
        scalar(number, name, path, .float)
    }

    static func optionalFloat(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Float?> & Sendable)
        -> Self
    {
        optional(number, name, path, .float)
    }

    static func repeatedFloat(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [Float]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .float)
    }

    static func float<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Float) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Float?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .float)
    }

    static func int32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Int32> & Sendable) -> Self {
        scalar(number, name, path, .int32)
    }

    static func optionalInt32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Int32?> & Sendable)
        -> Self
    {
        optional(number, name, path, .int32)
    }

    static func repeatedInt32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [Int32]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .int32)
    }

    static func int32<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Int32) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Int32?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .int32)
    }

    static func int64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Int64> & Sendable) -> Self {
        scalar(number, name, path, .int64)
    }

    static func optionalInt64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Int64?> & Sendable)
        -> Self
    {
        optional(number, name, path, .int64)
    }

    static func repeatedInt64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [Int64]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .int64)
    }

    static func int64<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Int64) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Int64?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .int64)
    }

    static func uint32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt32> & Sendable) -> Self {
        scalar(number, name, path, .uint32)
    }

    static func optionalUint32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt32?> & Sendable)
        -> Self
    {
        optional(number, name, path, .uint32)
    }

    static func repeatedUint32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt32]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .uint32)
    }

    static func uint32<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (UInt32) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> UInt32?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .uint32)
    }

    static func uint64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt64> & Sendable) -> Self {
        scalar(number, name, path, .uint64)
    }

    static func optionalUint64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt64?> & Sendable)
        -> Self
    {
        optional(number, name, path, .uint64)
    }

    static func repeatedUint64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt64]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .uint64)
    }

    static func uint64<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (UInt64) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> UInt64?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .uint64)
    }

    static func fixed64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt64> & Sendable) -> Self {
        scalar(number, name, path, .fixed64)
    }

    static func optionalFixed64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt64?> & Sendable)
        -> Self
    {
        optional(number, name, path, .fixed64)
    }

    static func repeatedFixed64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt64]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .fixed64)
    }

    static func fixed64<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (UInt64) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> UInt64?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .fixed64)
    }

    static func bool(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Bool> & Sendable) -> Self {
        scalar(number, name, path, .bool)
    }

    static func optionalBool(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Bool?> & Sendable) -> Self
    {
        optional(number, name, path, .bool)
    }

    static func repeatedBool(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [Bool]> & Sendable) -> Self
    {
        repeated(number, name, path, .bool)
    }

    static func bool<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Bool) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Bool?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .bool)
    }

    static func string(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, String> & Sendable) -> Self {
        scalar(number, name, path, .string)
    }

    static func optionalString(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, String?> & Sendable)
        -> Self
    {
        optional(number, name, path, .string)
    }

    static func repeatedString(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [String]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .string)
    }

    static func string<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (String) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> String?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .string)
    }

    static func bytes(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt8]> & Sendable) -> Self {
        scalar(number, name, path, .bytes)
    }

    static func optionalBytes(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt8]?> & Sendable)
        -> Self
    {
        optional(number, name, path, .bytes)
    }

    static func repeatedBytes(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [[UInt8]]> & Sendable)
        -> Self
    {
        repeated(number, name, path, .bytes)
    }

    static func bytes<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable ([UInt8]) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> [UInt8]?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .bytes)
    }

    static func enumeration<E: ProtobufEnum>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, E> & Sendable
    ) -> Self {
        scalar(number, name, path, .enumeration)
    }

    static func optionalEnumeration<E: ProtobufEnum>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, E?> & Sendable
    ) -> Self {
        optional(number, name, path, .enumeration)
    }

    static func repeatedEnumeration<E: ProtobufEnum>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [E]> & Sendable
    ) -> Self {
        repeated(number, name, path, .enumeration)
    }

    static func enumeration<E: ProtobufEnum, Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (E) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> E?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .enumeration)
    }

    static func repeatedMessage<M: ProtobufMessage>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [M]> & Sendable
    ) -> Self {
        repeated(number, name, path, .message)
    }

    static func message<M: ProtobufMessage, Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (M) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> M?
    ) -> Self {
        .oneof(number, name, oneof, path, wrap, unwrap, .message)
    }

    /// A message field; a second occurrence is merged into the first, as protobuf has it.
    static func message<M: ProtobufMessage>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, M?> & Sendable
    ) -> Self {
        ProtobufField(
            number: number, name: name, type: M.protoMessageName, label: .singular, oneof: nil,
            wireType: .lengthDelimited, isPackable: false,
            decode: { message, decoder, _ throws(ProtobufError) in
                var nested = try decoder.nested()
                var value = message[keyPath: path] ?? M()
                try value.merge(from: &nested)
                message[keyPath: path] = value
            },
            encode: { message, encoder in
                guard let value = message[keyPath: path] else { return }
                encoder.tag(number, .lengthDelimited)
                ProtobufScalar<M>.message.write(value, &encoder)
            })
    }

    static func stringMap(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [String: String]> & Sendable
    ) -> Self {
        map(number, name, path, key: .string, value: .string)
    }

    static func messageMap<M: ProtobufMessage>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt32: M]> & Sendable
    ) -> Self {
        map(number, name, path, key: .uint32, value: .message)
    }

    /// A map: on the wire, repeated entries of a key (field 1) and a value (field 2), written in the order of the keys.
    private static func map<Key: Hashable & Comparable & Sendable, Value>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [Key: Value]> & Sendable,
        key: ProtobufScalar<Key>, value: ProtobufScalar<Value>
    ) -> Self {
        ProtobufField(
            number: number, name: name, type: "map<\(key.name), \(value.name)>", label: .map, oneof: nil,
            wireType: .lengthDelimited, isPackable: false,
            decode: { message, decoder, _ throws(ProtobufError) in
                var entry = try decoder.nested()
                var entryKey = key.zero
                var entryValue = value.zero
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
                message[keyPath: path][entryKey] = entryValue
            },
            encode: { message, encoder in
                for (entryKey, entryValue) in message[keyPath: path].sorted(by: { $0.key < $1.key }) {
                    var entry = ProtobufEncoder()
                    entry.tag(1, key.wireType)
                    key.write(entryKey, &entry)
                    entry.tag(2, value.wireType)
                    value.write(entryValue, &entry)
                    encoder.tag(number, .lengthDelimited)
                    encoder.delimited(entry.bytes)
                }
            })
    }
}
