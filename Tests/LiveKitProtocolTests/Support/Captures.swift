import Foundation
import LiveKitProtocol
import Testing

/// One signaling message between a real LiveKit server and a real client, from Tests/Fixtures/captures.
struct CapturedFrame: Sendable, CustomTestStringConvertible {
    let capture: String
    let line: Int
    let isFromServer: Bool
    let bytes: [UInt8]
    /// The message as the official descriptors decode it: proto field names, 64-bit numbers as strings.
    let json: String

    var testDescription: String { "\(capture):\(line)" }
}

enum Captures {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(components: "..", "..", "Fixtures", "captures")

    /// Every frame whose bytes are kept: those that hold a token are not.
    static func frames() throws -> [CapturedFrame] {
        try ["python_sdk", "python_sdk_events", "lk_cli_dual_pc"].flatMap { name in
            try lines(of: name).enumerated().compactMap { index, object in
                guard object["kind"] as? String == "frame", let base64 = object["base64"] as? String,
                    let data = Data(base64Encoded: base64), let message = object["message"]
                else { return nil }
                let json = try JSONSerialization.data(withJSONObject: message, options: .sortedKeys)
                return CapturedFrame(
                    capture: name, line: index + 1, isFromServer: object["dir"] as? String == "server",
                    bytes: [UInt8](data), json: String(decoding: json, as: UTF8.self))
            }
        }
    }

    /// The `join_request` parameters with which clients opened `/rtc/v1`.
    static func joinRequests() throws -> [[UInt8]] {
        try lines(of: "python_sdk").compactMap { object in
            guard let query = object["query"] as? [String: String], let parameter = query["join_request"] else {
                return nil
            }
            let base64 = parameter.replacing("-", with: "+").replacing("_", with: "/")
            return Data(base64Encoded: base64).map { [UInt8]($0) }
        }
    }

    private static func lines(of name: String) throws -> [[String: Any]] {
        let text = try String(contentsOf: folder.appending(path: name + ".jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }
}
