import Foundation

/// Mutes and unmutes without a click: the gain moves in a raised cosine over 10 ms.
struct GainRamp: Sendable {
    private(set) var isMuted: Bool
    /// 0...`length`: how far the gain is up.
    private var position: Int
    private static let length = 480
    /// Raised cosine, 0...32768.
    private static let curve: [Int32] = (0...length).map { step in
        let x = Double(step) / Double(length)
        // 3x² - 2x³ is flat at both ends, as the cosine is.
        return Int32((x * x * (3 - 2 * x) * 32_768).rounded())
    }

    init(isMuted: Bool) {
        self.isMuted = isMuted
        position = isMuted ? 0 : Self.length
    }

    mutating func set(isMuted: Bool) { self.isMuted = isMuted }

    mutating func apply(to samples: inout [Int16]) {
        if !isMuted, position == Self.length { return }
        for index in samples.indices {
            if isMuted { position = max(0, position - 1) } else { position = min(Self.length, position + 1) }
            samples[index] = Int16(Int32(samples[index]) * Self.curve[position] >> 15)
        }
    }

    /// The factor of an amplitude for a gain in dB.
    static func factor(decibels: Double) -> Float { Float(pow(10, decibels / 20)) }
}
