import Foundation
import Synchronization

/// Single keys from the terminal: without an Enter, and not echoed. The terminal is as it was when it stops, and when
/// the process ends in whatever way.
final class KeyReader {
    let keys: AsyncStream<Character>
    private let source: any DispatchSourceRead
    private let continuation: AsyncStream<Character>.Continuation

    /// What the terminal was like; restored by `atexit` too.
    private static let saved = Mutex<termios?>(nil)

    /// - Returns: nil where standard input is no terminal, or this process is not in its foreground.
    static func start() -> KeyReader? {
        var settings = termios()
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &settings) == 0
        else { return nil }
        let isFirst = saved.withLock { saved in
            defer { saved = settings }
            return saved == nil
        }
        if isFirst { atexit { KeyReader.restore() } }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { return nil }
        return KeyReader()
    }

    private init() {
        let (keys, continuation) = AsyncStream.makeStream(of: Character.self)
        self.keys = keys
        self.continuation = continuation
        source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        source.setEventHandler { [continuation] in
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            guard count > 0 else {
                continuation.finish()
                return
            }
            for character in String(decoding: bytes[..<count], as: UTF8.self) { continuation.yield(character) }
        }
        source.resume()
    }

    func stop() {
        source.cancel()
        continuation.finish()
        Self.restore()
    }

    static func restore() {
        saved.withLock { saved in
            guard var settings = saved else { return }
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        }
    }
}
