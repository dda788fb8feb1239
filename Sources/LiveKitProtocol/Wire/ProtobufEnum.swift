/// One declared value of an enum.
public struct ProtobufEnumValue<Value: Sendable>: Sendable {
    public let number: Int32
    /// The name in the `.proto` file, such as `MICROPHONE`.
    public let name: String
    public let value: Value

    init(_ number: Int32, _ name: String, _ value: Value) {
        self.number = number
        self.name = name
        self.value = value
    }
}

/// An enum of the protocol. Open: a number that is not declared is kept as `unrecognized`.
public protocol ProtobufEnum: Hashable, Sendable {
    /// The full name in the `.proto` files, such as `livekit.TrackSource`.
    static var protoEnumName: String { get }
    static var values: [ProtobufEnumValue<Self>] { get }
    static func unrecognized(_ number: Int32) -> Self
}

extension ProtobufEnum {
    /// The case for a number; `unrecognized` when it is not declared.
    public init(rawValue: Int32) {
        self = Self.values.first { $0.number == rawValue }?.value ?? .unrecognized(rawValue)
    }

    /// The number on the wire.
    public var rawValue: Int32 {
        if let declared = Self.values.first(where: { $0.value == self }) { return declared.number }
        return Self.number(unrecognized: self)
    }

    /// The name in the `.proto` file, or the number in decimal.
    public var protoName: String {
        Self.values.first { $0.value == self }?.name ?? String(rawValue)
    }

    /// The payload of `unrecognized`, read without knowing the concrete enum.
    private static func number(unrecognized value: Self) -> Int32 {
        Mirror(reflecting: value).children.first?.value as? Int32 ?? 0
    }
}
