// The scalar types that the protocol uses, and the declarations of fields of these types.

extension ProtobufScalar where Value == Double {
    static var double: Self {
        ProtobufScalar(
            name: "double", wireType: .fixed64, zero: 0,
            read: { decoder throws(ProtobufError) in Double(bitPattern: try decoder.fixed64()) },
            write: { $1.fixed64($0.bitPattern) })
    }
}

extension ProtobufScalar where Value == Float {
    static var float: Self {
        ProtobufScalar(
            name: "float", wireType: .fixed32, zero: 0,
            read: { decoder throws(ProtobufError) in Float(bitPattern: try decoder.fixed32()) },
            write: { $1.fixed32($0.bitPattern) })
    }
}

extension ProtobufScalar where Value == Int32 {
    static var int32: Self {
        ProtobufScalar(
            name: "int32", wireType: .varint, zero: 0,
            read: { decoder throws(ProtobufError) in Int32(truncatingIfNeeded: try decoder.varint()) },
            write: { $1.varint(UInt64(bitPattern: Int64($0))) })
    }
}

extension ProtobufScalar where Value == Int64 {
    static var int64: Self {
        ProtobufScalar(
            name: "int64", wireType: .varint, zero: 0,
            read: { decoder throws(ProtobufError) in Int64(bitPattern: try decoder.varint()) },
            write: { $1.varint(UInt64(bitPattern: $0)) })
    }
}

extension ProtobufScalar where Value == UInt32 {
    static var uint32: Self {
        ProtobufScalar(
            name: "uint32", wireType: .varint, zero: 0,
            read: { decoder throws(ProtobufError) in UInt32(truncatingIfNeeded: try decoder.varint()) },
            write: { $1.varint(UInt64($0)) })
    }
}

extension ProtobufScalar where Value == UInt64 {
    static var uint64: Self {
        ProtobufScalar(
            name: "uint64", wireType: .varint, zero: 0,
            read: { decoder throws(ProtobufError) in try decoder.varint() }, write: { $1.varint($0) })
    }
}

extension ProtobufScalar where Value == UInt64 {
    static var fixed64: Self {
        ProtobufScalar(
            name: "fixed64", wireType: .fixed64, zero: 0,
            read: { decoder throws(ProtobufError) in try decoder.fixed64() }, write: { $1.fixed64($0) })
    }
}

extension ProtobufScalar where Value == Bool {
    static var bool: Self {
        ProtobufScalar(
            name: "bool", wireType: .varint, zero: false,
            read: { decoder throws(ProtobufError) in try decoder.varint() != 0 }, write: { $1.varint($0 ? 1 : 0) })
    }
}

extension ProtobufScalar where Value == String {
    static var string: Self {
        ProtobufScalar(
            name: "string", wireType: .lengthDelimited, zero: "",
            read: { decoder throws(ProtobufError) in try decoder.string() }, write: { $1.delimited($0.utf8) })
    }
}

extension ProtobufScalar where Value == [UInt8] {
    static var bytes: Self {
        ProtobufScalar(
            name: "bytes", wireType: .lengthDelimited, zero: [],
            read: { decoder throws(ProtobufError) in try decoder.data() }, write: { $1.delimited($0) })
    }
}
extension ProtobufScalar where Value: ProtobufEnum {
    static var enumeration: Self {
        ProtobufScalar(
            name: Value.protoEnumName, wireType: .varint, zero: Value(rawValue: 0),
            read: { decoder throws(ProtobufError) in
                Value(rawValue: Int32(truncatingIfNeeded: try decoder.varint()))
            },
            write: { $1.varint(UInt64(bitPattern: Int64($0.rawValue))) })
    }
}

extension ProtobufScalar where Value: ProtobufMessage {
    static var message: Self {
        ProtobufScalar(
            name: Value.protoMessageName, wireType: .lengthDelimited, zero: Value(),
            read: { decoder throws(ProtobufError) in
                var nested = try decoder.nested()
                var value = Value()
                try value.merge(from: &nested)
                return value
            },
            write: {
                var nested = ProtobufEncoder()
                $0.encode(into: &nested)
                $1.delimited(nested.bytes)
            })
    }
}
