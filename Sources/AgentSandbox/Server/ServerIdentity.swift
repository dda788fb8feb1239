import LiveKitProtocol

/// How the server presents itself to clients.
enum ServerIdentity {
    /// The LiveKit release whose behaviour is followed.
    static let version = "1.9.12"
    /// Signal protocol: 18 would promise pre-negotiated data channels.
    static let protocolVersion: Int32 = 16

    static var info: ServerInfo {
        var info = ServerInfo()
        info.version = version
        info.protocol = protocolVersion
        info.nodeId = "ND_sandbox"
        info.agentProtocol = 1
        return info
    }

    static let codecs = ["audio/opus", "audio/red"].map { mime in
        var codec = Codec()
        codec.mime = mime
        return codec
    }

    /// A new id such as `PA_x7Kd…`: the prefix and 12 letters and digits.
    static func makeID(_ prefix: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz23456789")
        return prefix + String((0..<12).compactMap { _ in alphabet.randomElement() })
    }

    /// The id of a track, which tells its kind and source as LiveKit's do.
    static func makeTrackID(type: TrackType, source: TrackSource) -> String {
        let kind = type == .video ? "V" : "A"
        let origin =
            switch source {
            case .microphone: "M"
            case .camera: "C"
            case .screenShare: "S"
            case .screenShareAudio: "s"
            default: "U"
            }
        return makeID("TR_" + kind + origin)
    }
}
