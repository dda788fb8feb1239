/// The exit codes of the program.
enum ExitCode {
    static let done: Int32 = 0
    static let usage: Int32 = 2
    static let interrupted: Int32 = 130
    static let terminated: Int32 = 143

    static let meanings: [(String, String)] = [
        ("0", "Done."),
        ("2", "The command line or the configuration is wrong."),
        ("3", "No token, or the server refused it."),
        ("4", "The connection could not be made, or was lost for good."),
        ("5", "The agent did not join, or did not answer in time."),
        ("6", "An audio file or device could not be used."),
        ("70", "A fault of the program itself."),
        ("130, 143", "Interrupted by SIGINT or SIGTERM."),
    ]
}
