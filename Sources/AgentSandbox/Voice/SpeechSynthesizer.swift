import AudioPipeline
import CEspeak
import LoopCore

/// The sandbox agent's voice: espeak-ng, which is one per process and not thread-safe. This actor owns it, on a thread
/// of its own, so that the media loop never waits for it.
package actor SpeechSynthesizer {
    package static let shared = SpeechSynthesizer()

    private let thread = EventLoop(name: "espeak")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private var sampleRate: Int?
    private var voice: AgentVoice?
    private var cache: [Key: Utterance] = [:]

    private struct Key: Hashable {
        var text: String
        var voice: AgentVoice
    }

    /// Utterances kept at most.
    private static let maximumCached = 32
    /// Characters spoken at most; a longer text is cut.
    private static let maximumLength = 4000

    private init() {}

    /// Speaks a text.
    /// - Throws: ``SandboxError`` when espeak-ng or its voice cannot be used.
    package func speak(_ text: String, voice: AgentVoice) throws(SandboxError) -> Utterance {
        let text = String(text.prefix(Self.maximumLength))
        let key = Key(text: text, voice: voice)
        if let known = cache[key] { return known }
        let rate = try prepare(voice)
        let collector = Collector()
        let status = text.withCString { pointer in
            espeak_Synth(
                pointer, text.utf8.count + 1, 0, POS_CHARACTER, 0, UInt32(espeakCHARS_UTF8), nil,
                Unmanaged.passUnretained(collector).toOpaque())
        }
        guard status == EE_OK, espeak_Synchronize() == EE_OK else {
            throw SandboxError(description: "espeak-ng cannot speak a text of \(text.count) characters")
        }
        guard let samples = Resampler.convert(collector.samples, from: rate, to: AudioFormat.sampleRate) else {
            throw SandboxError(description: "espeak-ng speaks at \(rate) Hz, which cannot be resampled to 48 kHz")
        }
        let marks = collector.marks.map { mark in
            (character: mark.character, sample: mark.milliseconds * (AudioFormat.sampleRate / 1000))
        }
        let utterance = Utterance(
            text: text, samples: samples, words: Utterance.timed(text, marks: marks, duration: samples.count))
        if cache.count >= Self.maximumCached { cache.removeAll() }
        cache[key] = utterance
        return utterance
    }

    private func prepare(_ wanted: AgentVoice) throws(SandboxError) -> Int {
        let rate: Int
        if let sampleRate {
            rate = sampleRate
        } else {
            rate = Int(espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 0, nil, espeakINITIALIZE_DONT_EXIT))
            guard rate > 0 else {
                throw SandboxError(
                    description: "espeak-ng cannot be used: its data is missing. Install espeak-ng-data")
            }
            espeak_SetSynthCallback(collect)
            sampleRate = rate
        }
        if voice != wanted {
            guard espeak_SetVoiceByName(wanted.name) == EE_OK else {
                throw SandboxError(
                    description: "espeak-ng has no voice \"\(wanted.name)\"; `espeak-ng --voices` lists them")
            }
            _ = espeak_SetParameter(espeakRATE, Int32(clamping: wanted.wordsPerMinute), 0)
            _ = espeak_SetParameter(espeakPITCH, Int32(clamping: wanted.pitch), 0)
            voice = wanted
        }
        return rate
    }
}

/// How the agent's voice sounds.
public struct AgentVoice: Sendable, Hashable {
    /// A voice of espeak-ng, such as `en-us` or `de`.
    public var name = "en-us"
    /// 80 to 450.
    public var wordsPerMinute = 165
    /// 0 to 100.
    public var pitch = 45

    public init() {}
}

/// Receives the sound of one `espeak_Synth`, which calls back before it returns.
private final class Collector {
    /// 30 s at 22.05 kHz take 1.3 MB; a text that takes longer than five minutes is cut off.
    static let limit = 5 * 60 * 22_050

    var samples: [Int16] = []
    var marks: [(character: Int, milliseconds: Int)] = []
}

private func collect(
    _ wave: UnsafeMutablePointer<Int16>?, _ count: Int32, _ events: UnsafeMutablePointer<espeak_EVENT>?
)
    -> Int32
{
    guard let events, let data = events.pointee.user_data else { return 0 }
    let collector = Unmanaged<Collector>.fromOpaque(data).takeUnretainedValue()
    if let wave, count > 0 {
        collector.samples.append(contentsOf: UnsafeBufferPointer(start: wave, count: Int(count)))
    }
    var event = events
    while event.pointee.type != espeakEVENT_LIST_TERMINATED {
        if event.pointee.type == espeakEVENT_WORD {
            // Positions in the text count from 1.
            collector.marks.append((Int(event.pointee.text_position) - 1, Int(event.pointee.audio_position)))
        }
        event += 1
    }
    return collector.samples.count > Collector.limit ? 1 : 0
}
