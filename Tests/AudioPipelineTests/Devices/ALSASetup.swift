import Foundation
import Testing

@testable import AudioPipeline

/// PCMs for machines without a sound card, in an asound.conf of the tests' own:
/// `speech:FILE` captures a file of raw 48 kHz mono S16 and then silence, `sink:FILE` writes what is played to a file,
/// `null` is nothing at all. None of them has a clock.
enum ALSASetup {
    static let ready: Bool = {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("asound-\(getpid()).conf").path
        let text = """
            </usr/share/alsa/alsa.conf>
            pcm.speech { @args [ FILE ] @args.FILE { type string }
                type file slave.pcm { type null } file "/dev/null" infile $FILE format raw }
            pcm.sink { @args [ FILE ] @args.FILE { type string }
                type file slave.pcm { type null } file $FILE format raw }
            pcm.wide { type linear slave { pcm { type null } format S24_3LE } }
            pcm.nowhere { type hw card 31 }
            """
        do {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        } catch { return false }
        setenv("ALSA_CONFIG_PATH", path, 1)
        return true
    }()

    /// Writes samples as the raw file that `speech:` reads; returns the PCM's name.
    static func speech(_ samples: [Int16]) throws -> String {
        try #require(ready)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("speech-\(UUID().uuidString).raw").path
        try Data(samples.withUnsafeBytes { Array($0) }).write(to: URL(fileURLWithPath: path))
        return "speech:\(path)"
    }
}
