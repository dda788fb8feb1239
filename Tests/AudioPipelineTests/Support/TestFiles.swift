import CSndfile
import Foundation

/// A folder that goes away with the test.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("agentctl-audio-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func write(_ bytes: [UInt8], _ name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }
}

/// Writes files with libsndfile, for the reader to read.
enum SoundFileWriter {
    struct Failure: Error {
        var message: String
    }

    /// - Parameter frames: calls back for each frame and channel, -1...1.
    static func write(
        _ path: String, format: Int, rate: Int, channels: Int, frames: Int, map: [Int32] = [],
        sample: (_ frame: Int, _ channel: Int) -> Float
    ) throws {
        var info = SF_INFO()
        info.format = Int32(format)
        info.samplerate = Int32(rate)
        info.channels = Int32(channels)
        guard let handle = sf_open(path, Int32(SFM_WRITE), &info) else {
            throw Failure(message: String(cString: sf_strerror(nil)))
        }
        defer { sf_close(handle) }
        if !map.isEmpty {
            var values = map
            sf_command(handle, Int32(SFC_SET_CHANNEL_MAP_INFO), &values, Int32(values.count * 4))
        }
        var done = 0
        while done < frames {
            let count = min(4_096, frames - done)
            var block = [Float](repeating: 0, count: count * channels)
            for frame in 0..<count {
                for channel in 0..<channels { block[frame * channels + channel] = sample(done + frame, channel) }
            }
            guard sf_writef_float(handle, block, sf_count_t(count)) == count else {
                throw Failure(message: String(cString: sf_strerror(handle)))
            }
            done += count
        }
    }

    static func sine(_ frequency: Double, rate: Int, level: Double = -6) -> (Int, Int) -> Float {
        let amplitude = pow(10, level / 20)
        return { frame, _ in Float(amplitude * sin(2 * .pi * frequency * Double(frame) / Double(rate))) }
    }
}

/// A WAV file as its own header describes it, read without libsndfile.
struct ParsedWAV {
    var riff: String
    var riffSize: UInt64
    var sampleRate: Int
    var channels: Int
    var declaredDataBytes: UInt64
    var samples: [Int16]
    var fileSize: Int

    init?(_ bytes: [UInt8]) {
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            (0..<count).reversed().reduce(0) { $0 << 8 | UInt64(bytes[offset + $1]) }
        }
        func text(_ offset: Int) -> String { String(decoding: bytes[offset..<(offset + 4)], as: UTF8.self) }
        guard bytes.count >= 44, text(8) == "WAVE" else { return nil }
        fileSize = bytes.count
        riff = text(0)
        riffSize = number(4, 4)
        sampleRate = 0
        channels = 0
        var longData: UInt64?
        var offset = 12
        while offset + 8 <= bytes.count {
            let size = number(offset + 4, 4)
            let body = offset + 8
            switch text(offset) {
            case "ds64":
                riffSize = number(body, 8)
                longData = number(body + 8, 8)
            case "fmt ":
                channels = Int(number(body + 2, 2))
                sampleRate = Int(number(body + 4, 4))
            case "data":
                declaredDataBytes = size == 0xFFFF_FFFF ? longData ?? size : size
                let end = min(bytes.count, body + Int(declaredDataBytes))
                samples = stride(from: body, to: end - 1, by: 2).map { Int16(bitPattern: UInt16(number($0, 2))) }
                return
            default: break
            }
            offset = body + Int(size)
        }
        return nil
    }

    init?(path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        self.init([UInt8](data))
    }
}
