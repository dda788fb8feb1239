import Dispatch
import Foundation

/// SIGINT, SIGTERM and SIGHUP (the terminal is gone): the first ends the work in good order, the second ends the process at once.
final class Signals {
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter handler: called with the number of the first signal, on a queue of its own.
    init(handler: @escaping @Sendable (Int32) -> Void) {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            // Written on this source's queue alone.
            nonisolated(unsafe) var count = 0
            source.setEventHandler {
                count += 1
                if count > 1 { _exit(128 + number) }
                handler(number)
            }
            source.resume()
            sources.append(source)
        }
    }

    deinit {
        for source in sources { source.cancel() }
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
        signal(SIGHUP, SIG_DFL)
    }
}
