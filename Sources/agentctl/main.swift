import Foundation

// A descriptor of a standard stream that is closed would be given to the next file or socket, which the words of a
// session would then be written into.
for descriptor: Int32 in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
    _ = open("/dev/null", O_RDWR)
}
let code = await Commands.run(
    Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
exit(Output.shared.finish(code))
