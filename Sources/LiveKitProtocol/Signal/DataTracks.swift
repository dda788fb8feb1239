/// `livekit.PublishDataTrackRequest`
public struct PublishDataTrackRequest: ProtobufMessage {
    public var pubHandle: UInt32 = 0
    public var name = ""
    public var encryption = Encryption.TypeEnum.none
    public var frameEncoding: DataTrackFrameEncoding?
    public var schema: DataTrackSchemaId?

    public init() {}

    public static let protoMessageName = "livekit.PublishDataTrackRequest"
    public static let fields: [ProtobufField<PublishDataTrackRequest>] = [
        .uint32(1, "pub_handle", \.pubHandle),
        .string(2, "name", \.name),
        .enumeration(3, "encryption", \.encryption),
        .message(4, "frame_encoding", \.frameEncoding),
        .message(5, "schema", \.schema),
    ]
}

/// `livekit.PublishDataTrackResponse`
public struct PublishDataTrackResponse: ProtobufMessage {
    public var info: DataTrackInfo?

    public init() {}

    public static let protoMessageName = "livekit.PublishDataTrackResponse"
    public static let fields: [ProtobufField<PublishDataTrackResponse>] = [
        .message(1, "info", \.info)
    ]
}

/// `livekit.UnpublishDataTrackRequest`
public struct UnpublishDataTrackRequest: ProtobufMessage {
    public var pubHandle: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.UnpublishDataTrackRequest"
    public static let fields: [ProtobufField<UnpublishDataTrackRequest>] = [
        .uint32(1, "pub_handle", \.pubHandle)
    ]
}

/// `livekit.UnpublishDataTrackResponse`
public struct UnpublishDataTrackResponse: ProtobufMessage {
    public var info: DataTrackInfo?

    public init() {}

    public static let protoMessageName = "livekit.UnpublishDataTrackResponse"
    public static let fields: [ProtobufField<UnpublishDataTrackResponse>] = [
        .message(1, "info", \.info)
    ]
}

/// `livekit.DataTrackSubscriberHandles`
public struct DataTrackSubscriberHandles: ProtobufMessage {
    public var subHandles: [UInt32: DataTrackSubscriberHandles.PublishedDataTrack] = [:]

    public init() {}

    public static let protoMessageName = "livekit.DataTrackSubscriberHandles"
    public static let fields: [ProtobufField<DataTrackSubscriberHandles>] = [
        .messageMap(1, "sub_handles", \.subHandles)
    ]

    /// `livekit.DataTrackSubscriberHandles.PublishedDataTrack`
    public struct PublishedDataTrack: ProtobufMessage {
        public var publisherIdentity = ""
        public var publisherSid = ""
        public var trackSid = ""

        public init() {}

        public static let protoMessageName = "livekit.DataTrackSubscriberHandles.PublishedDataTrack"
        public static let fields: [ProtobufField<DataTrackSubscriberHandles.PublishedDataTrack>] = [
            .string(1, "publisher_identity", \.publisherIdentity),
            .string(2, "publisher_sid", \.publisherSid),
            .string(3, "track_sid", \.trackSid),
        ]
    }
}

/// `livekit.UpdateDataSubscription`
public struct UpdateDataSubscription: ProtobufMessage {
    public var updates: [UpdateDataSubscription.Update] = []

    public init() {}

    public static let protoMessageName = "livekit.UpdateDataSubscription"
    public static let fields: [ProtobufField<UpdateDataSubscription>] = [
        .repeatedMessage(1, "updates", \.updates)
    ]

    /// `livekit.UpdateDataSubscription.Update`
    public struct Update: ProtobufMessage {
        public var trackSid = ""
        public var subscribe = false
        public var options: DataTrackSubscriptionOptions?

        public init() {}

        public static let protoMessageName = "livekit.UpdateDataSubscription.Update"
        public static let fields: [ProtobufField<UpdateDataSubscription.Update>] = [
            .string(1, "track_sid", \.trackSid),
            .bool(2, "subscribe", \.subscribe),
            .message(3, "options", \.options),
        ]
    }
}

/// `livekit.DataTrackSubscriptionOptions`
public struct DataTrackSubscriptionOptions: ProtobufMessage {
    public var targetFps: UInt32?

    public init() {}

    public static let protoMessageName = "livekit.DataTrackSubscriptionOptions"
    public static let fields: [ProtobufField<DataTrackSubscriptionOptions>] = [
        .optionalUint32(1, "target_fps", \.targetFps)
    ]
}

/// `livekit.DataTrackInfo`
public struct DataTrackInfo: ProtobufMessage {
    public var pubHandle: UInt32 = 0
    public var sid = ""
    public var name = ""
    public var encryption = Encryption.TypeEnum.none
    public var frameEncoding: DataTrackFrameEncoding?
    public var schema: DataTrackSchemaId?

    public init() {}

    public static let protoMessageName = "livekit.DataTrackInfo"
    public static let fields: [ProtobufField<DataTrackInfo>] = [
        .uint32(1, "pub_handle", \.pubHandle),
        .string(2, "sid", \.sid),
        .string(3, "name", \.name),
        .enumeration(4, "encryption", \.encryption),
        .message(5, "frame_encoding", \.frameEncoding),
        .message(6, "schema", \.schema),
    ]
}

/// `livekit.DataTrackFrameEncoding`
public struct DataTrackFrameEncoding: ProtobufMessage {
    public var value: Value?

    public init() {}

    /// The cases of `value`; at most one is set.
    public enum Value: Equatable, Sendable {
        case wellKnown(DataTrackFrameEncoding.WellKnownFrameEncoding)
        case custom(String)
    }

    public static let protoMessageName = "livekit.DataTrackFrameEncoding"
    public static let fields: [ProtobufField<DataTrackFrameEncoding>] = [
        .enumeration(1, "well_known", oneof: "value", \.value, Value.wellKnown) {
            if case .wellKnown(let value) = $0 { value } else { nil }
        },
        .string(2, "custom", oneof: "value", \.value, Value.custom) {
            if case .custom(let value) = $0 { value } else { nil }
        },
    ]

    /// `livekit.DataTrackFrameEncoding.WellKnownFrameEncoding`
    public enum WellKnownFrameEncoding: ProtobufEnum {
        case unspecified
        case ros1
        case cdr
        case protobuf
        case flatbuffer
        case cbor
        case msgpack
        case json
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.DataTrackFrameEncoding.WellKnownFrameEncoding"
        public static let values: [ProtobufEnumValue<DataTrackFrameEncoding.WellKnownFrameEncoding>] = [
            .init(0, "WELL_KNOWN_FRAME_ENCODING_UNSPECIFIED", .unspecified),
            .init(1, "WELL_KNOWN_FRAME_ENCODING_ROS1", .ros1),
            .init(2, "WELL_KNOWN_FRAME_ENCODING_CDR", .cdr),
            .init(3, "WELL_KNOWN_FRAME_ENCODING_PROTOBUF", .protobuf),
            .init(4, "WELL_KNOWN_FRAME_ENCODING_FLATBUFFER", .flatbuffer),
            .init(5, "WELL_KNOWN_FRAME_ENCODING_CBOR", .cbor),
            .init(6, "WELL_KNOWN_FRAME_ENCODING_MSGPACK", .msgpack),
            .init(7, "WELL_KNOWN_FRAME_ENCODING_JSON", .json),
        ]
    }
}

/// `livekit.DataTrackSchemaId`
public struct DataTrackSchemaId: ProtobufMessage {
    public var name = ""
    public var encoding: DataTrackSchemaEncoding?

    public init() {}

    public static let protoMessageName = "livekit.DataTrackSchemaId"
    public static let fields: [ProtobufField<DataTrackSchemaId>] = [
        .string(1, "name", \.name),
        .message(2, "encoding", \.encoding),
    ]
}

/// `livekit.DataTrackSchemaEncoding`
public struct DataTrackSchemaEncoding: ProtobufMessage {
    public var value: Value?

    public init() {}

    /// The cases of `value`; at most one is set.
    public enum Value: Equatable, Sendable {
        case wellKnown(DataTrackSchemaEncoding.WellKnownSchemaEncoding)
        case custom(String)
    }

    public static let protoMessageName = "livekit.DataTrackSchemaEncoding"
    public static let fields: [ProtobufField<DataTrackSchemaEncoding>] = [
        .enumeration(1, "well_known", oneof: "value", \.value, Value.wellKnown) {
            if case .wellKnown(let value) = $0 { value } else { nil }
        },
        .string(2, "custom", oneof: "value", \.value, Value.custom) {
            if case .custom(let value) = $0 { value } else { nil }
        },
    ]

    /// `livekit.DataTrackSchemaEncoding.WellKnownSchemaEncoding`
    public enum WellKnownSchemaEncoding: ProtobufEnum {
        case unspecified
        case protobuf
        case flatbuffer
        case ros1Msg
        case ros2Msg
        case ros2Idl
        case omgIdl
        case jsonSchema
        /// A value this program does not know.
        case unrecognized(Int32)

        public var unrecognizedNumber: Int32? { if case .unrecognized(let number) = self { number } else { nil } }
        public static let protoEnumName = "livekit.DataTrackSchemaEncoding.WellKnownSchemaEncoding"
        public static let values: [ProtobufEnumValue<DataTrackSchemaEncoding.WellKnownSchemaEncoding>] = [
            .init(0, "WELL_KNOWN_SCHEMA_ENCODING_UNSPECIFIED", .unspecified),
            .init(1, "WELL_KNOWN_SCHEMA_ENCODING_PROTOBUF", .protobuf),
            .init(2, "WELL_KNOWN_SCHEMA_ENCODING_FLATBUFFER", .flatbuffer),
            .init(3, "WELL_KNOWN_SCHEMA_ENCODING_ROS1_MSG", .ros1Msg),
            .init(4, "WELL_KNOWN_SCHEMA_ENCODING_ROS2_MSG", .ros2Msg),
            .init(5, "WELL_KNOWN_SCHEMA_ENCODING_ROS2_IDL", .ros2Idl),
            .init(6, "WELL_KNOWN_SCHEMA_ENCODING_OMG_IDL", .omgIdl),
            .init(7, "WELL_KNOWN_SCHEMA_ENCODING_JSON_SCHEMA", .jsonSchema),
        ]
    }
}

/// `livekit.StoreDataBlobRequest`
public struct StoreDataBlobRequest: ProtobufMessage {
    public var requestId: UInt32 = 0
    public var blob: DataBlob?

    public init() {}

    public static let protoMessageName = "livekit.StoreDataBlobRequest"
    public static let fields: [ProtobufField<StoreDataBlobRequest>] = [
        .uint32(1, "request_id", \.requestId),
        .message(2, "blob", \.blob),
    ]
}

/// `livekit.StoreDataBlobResponse`
public struct StoreDataBlobResponse: ProtobufMessage {
    public var requestId: UInt32 = 0
    public var key: DataBlobKey?

    public init() {}

    public static let protoMessageName = "livekit.StoreDataBlobResponse"
    public static let fields: [ProtobufField<StoreDataBlobResponse>] = [
        .uint32(1, "request_id", \.requestId),
        .message(2, "key", \.key),
    ]
}

/// `livekit.GetDataBlobRequest`
public struct GetDataBlobRequest: ProtobufMessage {
    public var requestId: UInt32 = 0
    public var participantIdentity = ""
    public var key: DataBlobKey?

    public init() {}

    public static let protoMessageName = "livekit.GetDataBlobRequest"
    public static let fields: [ProtobufField<GetDataBlobRequest>] = [
        .uint32(1, "request_id", \.requestId),
        .string(2, "participant_identity", \.participantIdentity),
        .message(3, "key", \.key),
    ]
}

/// `livekit.GetDataBlobResponse`
public struct GetDataBlobResponse: ProtobufMessage {
    public var requestId: UInt32 = 0
    public var blob: DataBlob?

    public init() {}

    public static let protoMessageName = "livekit.GetDataBlobResponse"
    public static let fields: [ProtobufField<GetDataBlobResponse>] = [
        .uint32(1, "request_id", \.requestId),
        .message(2, "blob", \.blob),
    ]
}

/// `livekit.DataBlob`
public struct DataBlob: ProtobufMessage {
    public var key: DataBlobKey?
    public var contents: [UInt8] = []

    public init() {}

    public static let protoMessageName = "livekit.DataBlob"
    public static let fields: [ProtobufField<DataBlob>] = [
        .message(1, "key", \.key),
        .bytes(2, "contents", \.contents),
    ]
}

/// `livekit.DataBlobKey`
public struct DataBlobKey: ProtobufMessage {
    public var key: Key?

    public init() {}

    /// The cases of `key`; at most one is set.
    public enum Key: Equatable, Sendable {
        case generic(String)
        case schemaId(DataTrackSchemaId)
    }

    public static let protoMessageName = "livekit.DataBlobKey"
    public static let fields: [ProtobufField<DataBlobKey>] = [
        .string(1, "generic", oneof: "key", \.key, Key.generic) {
            if case .generic(let value) = $0 { value } else { nil }
        },
        .message(2, "schema_id", oneof: "key", \.key, Key.schemaId) {
            if case .schemaId(let value) = $0 { value } else { nil }
        },
    ]
}
