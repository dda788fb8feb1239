import Foundation

exit(await Commands.run(Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment))
