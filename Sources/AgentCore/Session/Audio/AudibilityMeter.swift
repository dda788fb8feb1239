import AudioPipeline

/// Tells whether somebody is heard, from the level alone: for clean, decoded audio. Pure.
struct AudibilityMeter: Sendable {
    private(set) var isAudible = false
    private var quiet = 0

    /// Quieter than this (-dBov) is silence: comfort noise and the codec's noise of a silent input stay below it.
    private static let audibleLevel: UInt8 = 55
    /// Samples that must be quiet to count as silent; longer than the pauses within words.
    private static let hangover = AudioFormat.framesPer20ms * 15

    /// - Returns: whether it changed.
    mutating func update(level: UInt8, frames: Int) -> Bool {
        if level < Self.audibleLevel {
            quiet = 0
            defer { isAudible = true }
            return !isAudible
        }
        guard isAudible else { return false }
        quiet += frames
        if quiet >= Self.hangover { isAudible = false }
        return !isAudible
    }
}
