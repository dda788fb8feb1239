// How the messages declare their fields: `.string(2, "name", \.name)`.

extension ProtobufField {
    static func float(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Float> & Sendable)
        -> ProtobufField
    {
        scalar(number, name, path, .float)
    }

    static func int32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Int32> & Sendable)
        -> ProtobufField
    {
        scalar(number, name, path, .int32)
    }

    static func int32<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Int32) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Int32?
    ) -> ProtobufField {
        .oneof(number, name, oneof, path, wrap, unwrap, .int32)
    }

    static func int64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Int64> & Sendable)
        -> ProtobufField
    {
        scalar(number, name, path, .int64)
    }

    static func optionalInt64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Int64?> & Sendable)
        -> ProtobufField
    {
        optional(number, name, path, .int64)
    }

    static func int64<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Int64) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Int64?
    ) -> ProtobufField {
        .oneof(number, name, oneof, path, wrap, unwrap, .int64)
    }

    static func uint32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt32> & Sendable)
        -> ProtobufField
    {
        scalar(number, name, path, .uint32)
    }

    static func optionalUint32(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt32?> & Sendable)
        -> ProtobufField
    {
        optional(number, name, path, .uint32)
    }

    static func uint64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt64> & Sendable)
        -> ProtobufField
    {
        scalar(number, name, path, .uint64)
    }

    static func optionalUint64(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, UInt64?> & Sendable)
        -> ProtobufField
    {
        optional(number, name, path, .uint64)
    }

    static func bool(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Bool> & Sendable) -> ProtobufField
    {
        scalar(number, name, path, .bool)
    }

    static func optionalBool(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, Bool?> & Sendable)
        -> ProtobufField
    {
        optional(number, name, path, .bool)
    }

    static func bool<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (Bool) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> Bool?
    ) -> ProtobufField {
        .oneof(number, name, oneof, path, wrap, unwrap, .bool)
    }

    static func string(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, String> & Sendable)
        -> ProtobufField
    {
        scalar(number, name, path, .string)
    }

    static func optionalString(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, String?> & Sendable)
        -> ProtobufField
    {
        optional(number, name, path, .string)
    }

    static func repeatedString(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [String]> & Sendable)
        -> ProtobufField
    {
        repeated(number, name, path, .string)
    }

    static func string<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (String) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> String?
    ) -> ProtobufField {
        .oneof(number, name, oneof, path, wrap, unwrap, .string)
    }

    static func bytes(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt8]> & Sendable)
        -> ProtobufField
    {
        scalar(number, name, path, .bytes)
    }

    static func optionalBytes(_ number: Int, _ name: String, _ path: WritableKeyPath<Message, [UInt8]?> & Sendable)
        -> ProtobufField
    {
        optional(number, name, path, .bytes)
    }

    static func bytes<Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable ([UInt8]) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> [UInt8]?
    ) -> ProtobufField {
        .oneof(number, name, oneof, path, wrap, unwrap, .bytes)
    }

    static func enumeration<E: ProtobufEnum>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, E> & Sendable
    ) -> ProtobufField {
        scalar(number, name, path, .enumeration)
    }

    static func repeatedEnumeration<E: ProtobufEnum>(
        _ number: Int, _ name: String, _ path: WritableKeyPath<Message, [E]> & Sendable
    ) -> ProtobufField {
        repeated(number, name, path, .enumeration)
    }

    static func enumeration<E: ProtobufEnum, Cases>(
        _ number: Int, _ name: String, oneof: String, _ path: WritableKeyPath<Message, Cases?> & Sendable,
        _ wrap: @escaping @Sendable (E) -> Cases, _ unwrap: @escaping @Sendable (Cases) -> E?
    ) -> ProtobufField {
        .oneof(number, name, oneof, path, wrap, unwrap, .enumeration)
    }
}
