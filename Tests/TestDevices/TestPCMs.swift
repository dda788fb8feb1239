import Foundation

/// PCMs for machines without a sound card, in an asound.conf of the tests' own. None of the first three has a clock.
///
/// - `speech:FILE` captures a file of raw 48 kHz mono S16 and then silence
/// - `sink:FILE` writes what is played to a file
/// - `null` is nothing at all
/// - `mic:SOCKET` and `speaker:SOCKET` are a sound server's, see ``SoundServer``
public enum TestPCMs {
    /// Tells libasound of them; before its first use in the process.
    public static let isReady: Bool = {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("asound-\(getpid()).conf").path
        let text = """
            </usr/share/alsa/alsa.conf>
            pcm.speech { @args [ FILE ] @args.FILE { type string }
                type file slave.pcm { type null } file "/dev/null" infile $FILE format raw }
            pcm.sink { @args [ FILE ] @args.FILE { type string }
                type file slave.pcm { type null } file $FILE format raw }
            pcm.only24 { type linear slave { pcm { type null } format S24_3LE } }
            pcm.nowhere { type hw card 31 }
            pcm.mic { @args [ SOCKET ] @args.SOCKET { type string }
                type pulse server $SOCKET device "mic.monitor" }
            pcm.speaker { @args [ SOCKET ] @args.SOCKET { type string }
                type pulse server $SOCKET device "speaker" }
            """
        guard (try? text.write(toFile: path, atomically: true, encoding: .utf8)) != nil else { return false }
        setenv("ALSA_CONFIG_PATH", path, 1)
        return true
    }()

    public struct NotReady: Error {}

    /// Writes samples as the raw file that `speech:` reads; returns the PCM's name.
    public static func speech(_ samples: [Int16]) throws -> String {
        guard isReady else { throw NotReady() }
        let path = temporaryPath("speech", "raw")
        // At the end of its file ALSA's plug-in goes on with whatever was in its buffer.
        let silence = [Int16](repeating: 0, count: 60 * 48_000)
        try Data((samples + silence).withUnsafeBytes { Array($0) }).write(to: URL(fileURLWithPath: path))
        return "speech:\(path)"
    }

    /// A PCM that writes to a file, and the file.
    public static func sink() throws -> (name: String, path: String) {
        guard isReady else { throw NotReady() }
        let path = temporaryPath("sink", "raw")
        return ("sink:\(path)", path)
    }

    static func temporaryPath(_ name: String, _ suffix: String) -> String {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("agentctl-\(name)-\(UUID().uuidString).\(suffix)").path
    }
}
