/// `livekit.MetricsBatch`
public struct MetricsBatch: ProtobufMessage {
    public var timestampMs: Int64 = 0
    public var normalizedTimestamp: Timestamp?
    public var strData: [String] = []
    public var timeSeries: [TimeSeriesMetric] = []
    public var events: [EventMetric] = []

    public init() {}

    public static let protoMessageName = "livekit.MetricsBatch"
    public static let fields: [ProtobufField<MetricsBatch>] = [
        .int64(1, "timestamp_ms", \.timestampMs),
        .message(2, "normalized_timestamp", \.normalizedTimestamp),
        .repeatedString(3, "str_data", \.strData),
        .repeatedMessage(4, "time_series", \.timeSeries),
        .repeatedMessage(5, "events", \.events),
    ]
}

/// `livekit.TimeSeriesMetric`
public struct TimeSeriesMetric: ProtobufMessage {
    public var label: UInt32 = 0
    public var participantIdentity: UInt32 = 0
    public var trackSid: UInt32 = 0
    public var samples: [MetricSample] = []
    public var rid: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.TimeSeriesMetric"
    public static let fields: [ProtobufField<TimeSeriesMetric>] = [
        .uint32(1, "label", \.label),
        .uint32(2, "participant_identity", \.participantIdentity),
        .uint32(3, "track_sid", \.trackSid),
        .repeatedMessage(4, "samples", \.samples),
        .uint32(5, "rid", \.rid),
    ]
}

/// `livekit.MetricSample`
public struct MetricSample: ProtobufMessage {
    public var timestampMs: Int64 = 0
    public var normalizedTimestamp: Timestamp?
    public var value: Float = 0

    public init() {}

    public static let protoMessageName = "livekit.MetricSample"
    public static let fields: [ProtobufField<MetricSample>] = [
        .int64(1, "timestamp_ms", \.timestampMs),
        .message(2, "normalized_timestamp", \.normalizedTimestamp),
        .float(3, "value", \.value),
    ]
}

/// `livekit.EventMetric`
public struct EventMetric: ProtobufMessage {
    public var label: UInt32 = 0
    public var participantIdentity: UInt32 = 0
    public var trackSid: UInt32 = 0
    public var startTimestampMs: Int64 = 0
    public var endTimestampMs: Int64?
    public var normalizedStartTimestamp: Timestamp?
    public var normalizedEndTimestamp: Timestamp?
    public var metadata = ""
    public var rid: UInt32 = 0

    public init() {}

    public static let protoMessageName = "livekit.EventMetric"
    public static let fields: [ProtobufField<EventMetric>] = [
        .uint32(1, "label", \.label),
        .uint32(2, "participant_identity", \.participantIdentity),
        .uint32(3, "track_sid", \.trackSid),
        .int64(4, "start_timestamp_ms", \.startTimestampMs),
        .optionalInt64(5, "end_timestamp_ms", \.endTimestampMs),
        .message(6, "normalized_start_timestamp", \.normalizedStartTimestamp),
        .message(7, "normalized_end_timestamp", \.normalizedEndTimestamp),
        .string(8, "metadata", \.metadata),
        .uint32(9, "rid", \.rid),
    ]
}

/// `google.protobuf.Timestamp`
public struct Timestamp: ProtobufMessage {
    public var seconds: Int64 = 0
    public var nanos: Int32 = 0

    public init() {}

    public static let protoMessageName = "google.protobuf.Timestamp"
    public static let fields: [ProtobufField<Timestamp>] = [
        .int64(1, "seconds", \.seconds),
        .int32(2, "nanos", \.nanos),
    ]
}
