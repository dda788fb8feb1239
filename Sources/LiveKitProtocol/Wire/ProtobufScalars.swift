// The types of values that the protocol uses.

/// How one value of a type is read and written.
struct ProtobufScalar<Value: Equatable & Sendable>: Sendable {
    let type: ProtobufType
    let wireType: ProtobufDecoder.WireType
    /// The value of a field that is not on the wire.
    let zero: Value
    /// Whether a field without presence is written with this value.
    let isWritten: @Sendable (Value) -> Bool
    let read: @Sendable (inout ProtobufDecoder) throws(ProtobufError) -> Value
    let write: @Sendable (Value, inout ProtobufEncoder) -> Void

    init(
        type: ProtobufType, zero: Value, isWritten: (@Sendable (Value) -> Bool)? = nil,
        read: @escaping @Sendable (inout ProtobufDecoder) throws(ProtobufError) -> Value,
        write: @escaping @Sendable (Value, inout ProtobufEncoder) -> Void
    ) {
        self.type = type
        wireType = type.wireType
        self.zero = zero
        self.isWritten = isWritten ?? { $0 != zero }
        self.read = read
        self.write = write
    }
}

extension ProtobufScalar where Value == Float {
    static var float: Self {
        ProtobufScalar(
            type: .float, zero: 0, isWritten: { $0.bitPattern != 0 },
            read: { decoder throws(ProtobufError) in Float(bitPattern: try decoder.fixed32()) },
            write: { $1.fixed32($0.bitPattern) })
    }
}

extension ProtobufScalar where Value == Int32 {
    static var int32: Self {
        ProtobufScalar(
            type: .int32, zero: 0,
            read: { decoder throws(ProtobufError) in Int32(truncatingIfNeeded: try decoder.varint()) },
            write: { $1.varint(UInt64(bitPattern: Int64($0))) })
    }
}

extension ProtobufScalar where Value == Int64 {
    static var int64: Self {
        ProtobufScalar(
            type: .int64, zero: 0,
            read: { decoder throws(ProtobufError) in Int64(bitPattern: try decoder.varint()) },
            write: { $1.varint(UInt64(bitPattern: $0)) })
    }
}

extension ProtobufScalar where Value == UInt32 {
    static var uint32: Self {
        ProtobufScalar(
            type: .uint32, zero: 0,
            read: { decoder throws(ProtobufError) in UInt32(truncatingIfNeeded: try decoder.varint()) },
            write: { $1.varint(UInt64($0)) })
    }
}

extension ProtobufScalar where Value == UInt64 {
    static var uint64: Self {
        ProtobufScalar(
            type: .uint64, zero: 0,
            read: { decoder throws(ProtobufError) in try decoder.varint() }, write: { $1.varint($0) })
    }
}

extension ProtobufScalar where Value == Bool {
    static var bool: Self {
        ProtobufScalar(
            type: .bool, zero: false,
            read: { decoder throws(ProtobufError) in try decoder.varint() != 0 }, write: { $1.varint($0 ? 1 : 0) })
    }
}

extension ProtobufScalar where Value == String {
    static var string: Self {
        ProtobufScalar(
            type: .string, zero: "",
            read: { decoder throws(ProtobufError) in try decoder.string() }, write: { $1.delimited($0) })
    }
}

extension ProtobufScalar where Value == [UInt8] {
    static var bytes: Self {
        ProtobufScalar(
            type: .bytes, zero: [],
            read: { decoder throws(ProtobufError) in [UInt8](try decoder.delimited()) }, write: { $1.delimited($0) })
    }
}

extension ProtobufScalar where Value: ProtobufEnum {
    static var enumeration: Self {
        ProtobufScalar(
            type: .enumeration(Value.self), zero: Value(rawValue: 0),
            read: { decoder throws(ProtobufError) in
                Value(rawValue: Int32(truncatingIfNeeded: try decoder.varint()))
            },
            write: { $1.varint(UInt64(bitPattern: Int64($0.rawValue))) })
    }
}

extension ProtobufScalar where Value: ProtobufMessage {
    static var message: Self {
        ProtobufScalar(
            type: .message(Value.self), zero: Value(),
            read: { decoder throws(ProtobufError) in
                var value = Value()
                try decoder.nested { content throws(ProtobufError) in try value.merge(from: &content) }
                return value
            },
            write: { value, encoder in encoder.delimited { value.encode(into: &$0) } })
    }
}
