import LiveKitProtocol

/// Everything that LiveKitProtocol declares, found by following the fields from the messages that travel on their own.
struct Declarations: Encodable {
    static let roots: [any ProtobufMessage.Type] = [
        SignalRequest.self, SignalResponse.self, WrappedJoinRequest.self, JoinRequest.self, DataPacket.self,
        EncryptedPacketPayload.self, DataStream.self, Encryption.self,
    ]

    struct Message: Encodable {
        let name: String
        let fields: [Field]
    }

    struct Field: Encodable {
        let number: Int
        let name: String
        let type: String
        let label: String
        let key: String?
        let oneof: String?
    }

    struct Enumeration: Encodable {
        let name: String
        let values: [Value]

        struct Value: Encodable {
            let number: Int32
            let name: String
        }
    }

    let messages: [Message]
    let enums: [Enumeration]

    init() {
        let types = Self.messageTypes().values
        var enums: [String: Enumeration] = [:]
        for field in types.flatMap({ $0.declarations }) {
            guard case .enumeration(let type) = field.type else { continue }
            enums[type.protoEnumName] = Self.enumeration(type)
        }
        messages = types.map(Self.message).sorted { $0.name < $1.name }
        self.enums = enums.values.sorted { $0.name < $1.name }
    }

    /// The message types by their full names.
    static func messageTypes() -> [String: any ProtobufMessage.Type] {
        var found: [String: any ProtobufMessage.Type] = [:]
        var open = roots
        while let type = open.popLast() {
            guard found.updateValue(type, forKey: type.protoMessageName) == nil else { continue }
            for field in type.declarations {
                if case .message(let nested) = field.type { open.append(nested) }
            }
        }
        return found
    }

    private static func message(_ type: any ProtobufMessage.Type) -> Message {
        Message(
            name: type.protoMessageName,
            fields: type.declarations.map {
                Field(
                    number: $0.number, name: $0.name, type: $0.type.name, label: $0.label.rawValue,
                    key: $0.keyType?.name, oneof: $0.oneof)
            })
    }

    private static func enumeration<Value: ProtobufEnum>(_ type: Value.Type) -> Enumeration {
        Enumeration(name: type.protoEnumName, values: type.values.map { .init(number: $0.number, name: $0.name) })
    }
}
