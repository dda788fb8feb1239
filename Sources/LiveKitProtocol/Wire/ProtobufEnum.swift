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
    /// The declared values, in the order of their numbers.
    static var values: [ProtobufEnumValue<Self>] { get }
    static func unrecognized(_ number: Int32) -> Self
    /// The number of an `unrecognized` value; nil for a declared one.
    var unrecognizedNumber: Int32? { get }
}

extension ProtobufEnum {
    /// The case for a number; `unrecognized` when it is not declared.
    public init(rawValue: Int32) {
        let values = Self.values
        // Numbers mostly count up from 0, so that they are their own index.
        if let index = Int(exactly: rawValue), values.indices.contains(index), values[index].number == rawValue {
            self = values[index].value
        } else {
            self = values.first { $0.number == rawValue }?.value ?? .unrecognized(rawValue)
        }
    }

    /// The case for a name in the `.proto` file, such as `MICROPHONE`; nil when it is not declared.
    public init?(protoName: String) {
        guard let declared = Self.values.first(where: { $0.name == protoName }) else { return nil }
        self = declared.value
    }

    /// The number on the wire.
    public var rawValue: Int32 {
        unrecognizedNumber ?? declaration?.number ?? 0
    }

    /// The name in the `.proto` file; the number in decimal when it is not declared.
    public var protoName: String {
        declaration?.name ?? String(rawValue)
    }

    private var declaration: ProtobufEnumValue<Self>? {
        Self.values.first { $0.value == self }
    }
}
