import Foundation

/// A trickled candidate (RFC 8838), as `RTCIceCandidateInit` of WebRTC carries it.
public struct ICECandidate: Sendable, Equatable {
    /// `candidate:…` without `a=`; empty for the end of candidates.
    public var candidate: String
    public var sdpMid: String?
    public var sdpMLineIndex: Int?

    public init(candidate: String, sdpMid: String? = "0", sdpMLineIndex: Int? = 0) {
        self.candidate = candidate
        self.sdpMid = sdpMid
        self.sdpMLineIndex = sdpMLineIndex
    }

    /// Whether this says that no more candidates come.
    public var isEndOfCandidates: Bool { candidate.isEmpty }

    private struct Wire: Codable {
        var candidate: String
        var sdpMid: String?
        var sdpMLineIndex: Int?
        var usernameFragment: String?
    }

    /// Reads the JSON text that LiveKit's `TrickleRequest.candidateInit` holds; nil when it is not that.
    public init?(json: String) {
        guard json.utf8.count <= 8192, let wire = try? JSONDecoder().decode(Wire.self, from: Data(json.utf8)) else {
            return nil
        }
        var line = wire.candidate[...]
        if line.hasPrefix("a=") { line = line.dropFirst(2) }
        candidate = String(line)
        sdpMid = wire.sdpMid
        sdpMLineIndex = wire.sdpMLineIndex
    }

    /// The JSON text for LiveKit's `TrickleRequest.candidateInit`. All of candidate, sdpMid and sdpMLineIndex are
    /// there, since some servers and clients insist.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let wire = Wire(
            candidate: candidate, sdpMid: sdpMid ?? "0", sdpMLineIndex: sdpMLineIndex ?? 0, usernameFragment: nil)
        guard let data = try? encoder.encode(wire) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}
