import Glibc

/// Why an audio file could not be read or written. The description says what happened, to which file, and what
/// to do about it.
public enum AudioFileError: Error, Equatable, Sendable, CustomStringConvertible {
    case notFound(path: String)
    /// The file exists and may not be read.
    case unreadable(path: String)
    case isDirectory(path: String)
    /// A pipe, socket or device where a regular file is needed.
    case notRegularFile(path: String)
    /// No format that libsndfile knows, or a header that breaks off.
    case notAudio(path: String, reason: String)
    /// Audio, of a kind outside what is supported (sample rate, number of channels).
    case unsupported(path: String, reason: String)
    /// The file holds no samples.
    case empty(path: String)
    /// Reading failed.
    case readFailed(path: String, reason: String)

    /// The folder that should hold the output does not exist.
    case parentNotFound(path: String)
    /// The output may not be created or opened.
    case notWritable(path: String, reason: String)
    /// The output is the input file itself (by whatever name).
    case overwritesInput(path: String)
    case diskFull(path: String)
    /// Writing failed for another reason.
    case writeFailed(path: String, reason: String)
    /// A write after `close()`, or after a write that failed.
    case closed(path: String)

    public var description: String {
        switch self {
        case .notFound(let path):
            "There is no file \"\(path)\". Check the path."
        case .unreadable(let path):
            "\"\(path)\" may not be read. Check its permissions."
        case .isDirectory(let path):
            "\"\(path)\" is a folder. Name an audio file in it."
        case .notRegularFile(let path):
            "\"\(path)\" is a pipe or a device, and a regular file is needed. Save the audio to a file first."
        case .notAudio(let path, let reason):
            "\"\(path)\" is not an audio file that can be read (\(reason)). "
                + "WAV, FLAC, AIFF, AU, CAF, Ogg Vorbis and Ogg Opus can."
        case .unsupported(let path, let reason):
            "\"\(path)\" is audio of a kind that is not supported: \(reason). Convert it, for example to 48 kHz WAV."
        case .empty(let path):
            "\"\(path)\" holds no audio (0 samples). Record it again."
        case .readFailed(let path, let reason):
            "Reading \"\(path)\" failed: \(reason)."
        case .parentNotFound(let path):
            "\"\(path)\" cannot be created, because its folder does not exist. Create the folder first."
        case .notWritable(let path, let reason):
            "\"\(path)\" cannot be written: \(reason)."
        case .overwritesInput(let path):
            "\"\(path)\" is the input file; writing to it would destroy it. Choose another output."
        case .diskFull(let path):
            "The disk is full: the recording \"\(path)\" ends here (what was written so far plays). Free some space."
        case .writeFailed(let path, let reason):
            "Writing \"\(path)\" failed: \(reason)."
        case .closed(let path):
            "\"\(path)\" is closed and takes no more audio."
        }
    }

    /// The error for `code` met while opening `path` to read it.
    static func opening(_ path: String, errno code: Int32) -> AudioFileError {
        switch code {
        case ENOENT, ENOTDIR, ENAMETOOLONG: .notFound(path: path)
        case EACCES, EPERM: .unreadable(path: path)
        case EISDIR: .isDirectory(path: path)
        case ENXIO: .notRegularFile(path: path)
        default: .readFailed(path: path, reason: systemMessage(code))
        }
    }

    /// The error for `code` met while creating `path`.
    static func creating(_ path: String, errno code: Int32) -> AudioFileError {
        switch code {
        case ENOENT, ENOTDIR: .parentNotFound(path: path)
        case EISDIR: .isDirectory(path: path)
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case ENXIO: .notRegularFile(path: path)
        default: .notWritable(path: path, reason: systemMessage(code))
        }
    }

    /// The error for `code` met while writing to `path`.
    static func writing(_ path: String, errno code: Int32) -> AudioFileError {
        switch code {
        case ENOSPC, EDQUOT: .diskFull(path: path)
        default: .writeFailed(path: path, reason: systemMessage(code))
        }
    }

    private static func systemMessage(_ code: Int32) -> String {
        String(cString: strerror(code))
    }
}

/// Something about a file that its reader should tell, while the audio that is there can still be used.
public enum AudioFileWarning: Equatable, Sendable, CustomStringConvertible {
    /// The header promises more than the file holds. `missingFrames` is at the file's own sample rate, and nil
    /// where the format does not say.
    case truncated(path: String, missingFrames: Int?, sampleRate: Int)
    /// So many 48 kHz samples were outside the range of Int16 and were limited.
    case clipped(path: String, samples: Int)
    /// So many samples of a floating-point file were not numbers, and were read as silence.
    case notANumber(path: String, samples: Int)

    public var description: String {
        switch self {
        case .truncated(let path, let missing?, let sampleRate):
            "\"\(path)\" is cut short: its header promises \(seconds(missing, sampleRate)) s more than it holds."
        case .truncated(let path, nil, _):
            "\"\(path)\" is cut short: it ends in the middle of its stream."
        case .clipped(let path, let samples):
            "\"\(path)\" is too loud: \(samples) samples were limited to full scale."
        case .notANumber(let path, let samples):
            "\"\(path)\" holds \(samples) samples that are not numbers; they were read as silence."
        }
    }

    private func seconds(_ frames: Int, _ sampleRate: Int) -> String {
        let hundredths = (frames * 100 + sampleRate - 1) / max(1, sampleRate)
        let fraction = hundredths % 100
        return "\(hundredths / 100)." + (fraction < 10 ? "0" : "") + "\(fraction)"
    }
}

/// What an audio file holds.
public struct AudioFileFormat: Equatable, Sendable {
    /// Hz.
    public var sampleRate: Int
    public var channels: Int
    /// Sample frames in the file at its own rate; nil where the file does not say.
    public var frames: Int?
    /// Container and encoding, such as "WAV (Microsoft), U-Law".
    public var encoding: String

    /// How long the audio lasts; nil where the file does not say.
    public var duration: Duration? {
        guard let frames, sampleRate > 0 else { return nil }
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: sampleRate)
        return .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / sampleRate)
    }
}
