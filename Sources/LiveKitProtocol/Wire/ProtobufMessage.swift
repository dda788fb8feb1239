/// A message of the LiveKit protocol in the protobuf wire format.
///
/// Fields that a message does not declare are stepped over, as is a declared field whose wire type is not the declared
/// one; scalars at their default are not written, as proto3 has it.
public protocol ProtobufMessage: Equatable, Sendable {
    /// The full name in the `.proto` files, such as `livekit.JoinResponse`.
    static var protoMessageName: String { get }
    /// The declared fields, in the order of their numbers: what is decoded, encoded and checked.
    static var fields: [ProtobufField<Self>] { get }
    init()
}

extension ProtobufMessage {
    /// Decodes a message.
    /// - Throws: ``ProtobufError``; nothing is kept of a message that does not decode as a whole.
    public init(serializedBytes: some Sequence<UInt8>) throws(ProtobufError) {
        let result =
            serializedBytes.withContiguousStorageIfAvailable { Self.decode(UnsafeRawBufferPointer($0)) }
            ?? [UInt8](serializedBytes).withUnsafeBytes { Self.decode($0) }
        self = try result.get()
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) -> Result<Self, ProtobufError> {
        do throws(ProtobufError) {
            var message = Self()
            var decoder = try ProtobufDecoder(bytes)
            try message.merge(from: &decoder)
            return .success(message)
        } catch {
            return .failure(error)
        }
    }

    /// The message in the wire format.
    public func serializedBytes() -> [UInt8] {
        var encoder = ProtobufEncoder()
        encode(into: &encoder)
        return encoder.bytes
    }

    mutating func merge(from decoder: inout ProtobufDecoder) throws(ProtobufError) {
        let fields = Self.fields
        var next = 0
        while !decoder.isAtEnd {
            let (number, type) = try decoder.tag()
            // Fields mostly come in order, so the search starts where the last one was found.
            guard let index = Self.index(of: number, in: fields, from: next) else {
                try decoder.skip(type, number: number)
                continue
            }
            next = index
            let field = fields[index]
            if type == field.wireType || (type == .lengthDelimited && field.acceptsPacked) {
                try field.decode(&self, &decoder, type)
            } else {
                try decoder.skip(type, number: number)
            }
        }
    }

    private static func index(of number: Int, in fields: [ProtobufField<Self>], from start: Int) -> Int? {
        for index in start..<fields.count where fields[index].number == number { return index }
        for index in 0..<start where fields[index].number == number { return index }
        return nil
    }

    func encode(into encoder: inout ProtobufEncoder) {
        for field in Self.fields { field.encode(self, &encoder) }
    }
}
