import Foundation
import LiveKitProtocol
import Testing

/// The JSON form of messages, for peers that speak text frames.
@Suite struct JSONTests {
    @Test func capturedMessagesHaveTheRecordedJSON() throws {
        for frame in try Captures.frames() {
            if frame.isFromServer {
                try check(SignalResponse.self, frame)
            } else {
                try check(SignalRequest.self, frame)
            }
        }
    }

    private func check<Message: ProtobufMessage>(_ type: Message.Type, _ frame: CapturedFrame) throws {
        let message = try Message(serializedBytes: frame.bytes)
        // The captures use the names of the .proto file.
        #expect(try Message(protoJSON: frame.json) == message, "\(frame.testDescription)")
        #expect(try Message(protoJSON: message.protoJSON()) == message, "\(frame.testDescription)")
    }

    @Test func valuesAreWrittenAsProtoJSONHasThem() throws {
        var track = TrackInfo()
        track.source = .microphone
        track.audioFeatures = [.noDtx, .unrecognized(77)]
        #expect(try track.protoJSON() == #"{"audioFeatures":["TF_NO_DTX",77],"source":"MICROPHONE"}"#)
        var ping = Ping()
        ping.timestamp = 1_700_000_000_000
        #expect(try ping.protoJSON() == #"{"timestamp":"1700000000000"}"#)
        var header = DataStream.Header()
        header.attributes = ["b": "2", "a": "\""]
        header.inlineContent = [0xff, 0xfe]
        header.contentHeader = .textHeader(DataStream.TextHeader())
        #expect(
            try header.protoJSON() == #"{"attributes":{"a":"\"","b":"2"},"inlineContent":"//4=","textHeader":{}}"#)
        var speaker = SpeakerInfo()
        speaker.level = 0.1
        #expect(try speaker.protoJSON() == #"{"level":0.1}"#)
        speaker.level = .infinity
        #expect(try speaker.protoJSON() == #"{"level":"Infinity"}"#)
    }

    @Test func valuesAreReadInEitherSpelling() throws {
        let track = try TrackInfo(
            protoJSON: #"{"mime_type": "audio/opus", "mimeType": null, "source": 2, "width": "640", "later": [{}]}"#)
        #expect(track.mimeType == "")
        #expect(track.source == .microphone)
        #expect(track.width == 640)
        let chunk = try DataStream.Chunk(protoJSON: #"{"streamId":"s","chunkIndex":3,"content":"__4"}"#)
        #expect(chunk.streamId == "s")
        #expect(chunk.chunkIndex == 3)
        #expect(chunk.content == [0xff, 0xfe])
    }

    @Test(arguments: [
        ("2026-01-31T12:00:00Z", 1_769_860_800, 0),
        ("2026-01-31T12:00:00.500Z", 1_769_860_800, 500_000_000),
        ("2026-01-31T12:00:00.000001Z", 1_769_860_800, 1_000),
        ("1969-12-31T23:59:59.000000001Z", -1, 1),
    ])
    func timesAreRFC3339(text: String, seconds: Int64, nanos: Int32) throws {
        var time = Timestamp()
        time.seconds = seconds
        time.nanos = nanos
        var sample = MetricSample()
        sample.normalizedTimestamp = time
        let json = #"{"normalizedTimestamp":"\#(text)"}"#
        #expect(try sample.protoJSON() == json)
        #expect(try MetricSample(protoJSON: json) == sample)
    }

    @Test func otherTextsThrow() {
        #expect(throws: ProtobufJSONError.notAnObject) { try Ping(protoJSON: "[]") }
        #expect(throws: ProtobufJSONError.notAnObject) { try Ping(protoJSON: "{") }
        #expect(throws: ProtobufJSONError.notAnObject) {
            try Ping(protoJSON: String(repeating: #"{"a":"#, count: 100_000))
        }
        #expect(throws: ProtobufJSONError.mismatch(field: "livekit.Ping.timestamp", expected: "int64")) {
            try Ping(protoJSON: #"{"timestamp": "soon"}"#)
        }
        #expect(throws: ProtobufJSONError.mismatch(field: "livekit.Ping.timestamp", expected: "int64")) {
            try Ping(protoJSON: #"{"timestamp": 1e300}"#)
        }
        #expect(throws: ProtobufJSONError.mismatch(field: "livekit.TrackInfo.source", expected: "livekit.TrackSource"))
        {
            try TrackInfo(protoJSON: #"{"source": "PHONE"}"#)
        }
        #expect(throws: ProtobufJSONError.ambiguous(oneof: "livekit.SignalRequest.message")) {
            try SignalRequest(protoJSON: #"{"ping": 1, "leave": {}}"#)
        }
    }
}
