import CALSA

/// libasound as a whole: what it says about its failures is kept for error messages instead of being printed.
// All use of the message is in this file, since it belongs to the object file that asks for it.
enum ALSALibrary {
    private static let isPrepared: Bool = {
        calsa_prepare()
        return true
    }()

    static func prepare() {
        _ = isPrepared
        calsa_clear_message()
    }

    /// The last thing that libasound said on this thread since ``prepare()``, on one line.
    static var message: String {
        String(cString: calsa_last_message()).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
