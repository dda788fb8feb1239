/// An SDP offer or answer (RFC 3264, RFC 8829).
public struct SessionDescription: Sendable, Equatable {
    public enum Kind: String, Sendable { case offer, answer }

    public var kind: Kind
    public var sdp: String

    public init(kind: Kind, sdp: String) {
        self.kind = kind
        self.sdp = sdp
    }
}

public enum MediaKind: String, Sendable {
    case audio, video
}

/// The direction of a media section, seen from the description's author (RFC 8866 section 6.7).
public enum MediaDirection: String, Sendable {
    case sendrecv, sendonly, recvonly, inactive

    public var sends: Bool { self == .sendrecv || self == .sendonly }
    public var receives: Bool { self == .sendrecv || self == .recvonly }

    init(sends: Bool, receives: Bool) {
        switch (sends, receives) {
        case (true, true): self = .sendrecv
        case (true, false): self = .sendonly
        case (false, true): self = .recvonly
        case (false, false): self = .inactive
        }
    }

    /// The same flow seen from the other end.
    var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }
}

/// The value of `a=msid` (RFC 8830).
public struct MediaStreamID: Sendable, Hashable {
    public var stream: String
    public var track: String

    public init(stream: String, track: String) {
        self.stream = stream
        self.track = track
    }
}
