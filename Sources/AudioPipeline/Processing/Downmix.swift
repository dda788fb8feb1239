import CSndfile

/// Mixes the channels of a file down to one.
///
/// The weights are those of ITU-R BS.775 for mono, 3 dB lower, so that two channels become their mean: front left
/// and right 0.5, centre 0.71 (where a film's speech is), surround 0.35, low-frequency effects none. Channels whose
/// place is not known count alike.
struct Downmix: Sendable {
    let weights: [Float]

    private enum Place {
        case side, centre, surround, effects, unknown
    }

    /// - Parameters:
    ///   - map: `SF_CHANNEL_MAP_...` of each channel; empty where the file does not say.
    ///   - format: `SF_FORMAT_...` of the file, which decides the usual order of channels.
    init(channels: Int, map: [Int32], format: Int32) {
        guard channels > 1 else {
            weights = [1]
            return
        }
        var places = map.map(Self.place)
        if places.count != channels || places.allSatisfy({ $0 == .unknown }) {
            let isOgg = format & Int32(SF_FORMAT_TYPEMASK) == Int32(SF_FORMAT_OGG)
            places = isOgg ? Self.vorbisOrder(channels) : Self.waveOrder(channels)
        }
        guard !places.contains(.unknown) else {
            weights = [Float](repeating: 1 / Float(channels), count: channels)
            return
        }
        let hasFront = places.contains(.side) || places.contains(.centre)
        weights = places.map { place in
            switch place {
            case .side, .unknown: 0.5
            case .centre: 0.707_107
            case .surround: hasFront ? 0.353_553 : 0.5
            case .effects: 0
            }
        }
    }

    /// Mixes `frames` frames of `interleaved` into the start of `mono`.
    func apply(_ interleaved: [Float], frames: Int, into mono: inout [Float]) {
        let channels = weights.count
        interleaved.withUnsafeBufferPointer { input in
            mono.withUnsafeMutableBufferPointer { output in
                weights.withUnsafeBufferPointer { weights in
                    for frame in 0..<min(frames, output.count) {
                        var sum: Float = 0
                        for channel in 0..<channels {
                            sum += input[frame * channels + channel] * weights[channel]
                        }
                        output[frame] = sum
                    }
                }
            }
        }
    }

    private static func place(_ channel: Int32) -> Place {
        switch Int(channel) {
        case SF_CHANNEL_MAP_LEFT, SF_CHANNEL_MAP_RIGHT,
            SF_CHANNEL_MAP_FRONT_LEFT, SF_CHANNEL_MAP_FRONT_RIGHT,
            SF_CHANNEL_MAP_FRONT_LEFT_OF_CENTER, SF_CHANNEL_MAP_FRONT_RIGHT_OF_CENTER:
            .side
        case SF_CHANNEL_MAP_MONO, SF_CHANNEL_MAP_CENTER, SF_CHANNEL_MAP_FRONT_CENTER:
            .centre
        case SF_CHANNEL_MAP_LFE:
            .effects
        case SF_CHANNEL_MAP_REAR_CENTER...SF_CHANNEL_MAP_REAR_RIGHT,
            SF_CHANNEL_MAP_SIDE_LEFT...SF_CHANNEL_MAP_TOP_REAR_CENTER:
            .surround
        default:
            .unknown
        }
    }

    /// The order of WAVEFORMATEXTENSIBLE and FLAC.
    private static func waveOrder(_ channels: Int) -> [Place] {
        switch channels {
        case 2: [.side, .side]
        case 3: [.side, .side, .centre]
        case 4: [.side, .side, .surround, .surround]
        case 5: [.side, .side, .centre, .surround, .surround]
        case 6: [.side, .side, .centre, .effects, .surround, .surround]
        case 7: [.side, .side, .centre, .effects, .surround, .surround, .surround]
        case 8: [.side, .side, .centre, .effects, .surround, .surround, .surround, .surround]
        default: [Place](repeating: .unknown, count: channels)
        }
    }

    /// The order of Vorbis and Ogg Opus (RFC 7845 section 5.1.1.2).
    private static func vorbisOrder(_ channels: Int) -> [Place] {
        switch channels {
        case 2: [.side, .side]
        case 3: [.side, .centre, .side]
        case 4: [.side, .side, .surround, .surround]
        case 5: [.side, .centre, .side, .surround, .surround]
        case 6: [.side, .centre, .side, .surround, .surround, .effects]
        case 7: [.side, .centre, .side, .surround, .surround, .surround, .effects]
        case 8: [.side, .centre, .side, .surround, .surround, .surround, .surround, .effects]
        default: [Place](repeating: .unknown, count: channels)
        }
    }
}
