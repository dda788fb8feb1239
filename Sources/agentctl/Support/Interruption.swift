import Synchronization

/// Which signal ended the work, if one did.
final class Interruption: Sendable {
    private let number = Atomic<Int32>(0)

    func set(_ signal: Int32) { number.store(signal, ordering: .relaxed) }

    /// 128 plus the signal's number, as shells report it.
    var exitCode: Int32? {
        let signal = number.load(ordering: .relaxed)
        return signal == 0 ? nil : 128 + signal
    }
}
