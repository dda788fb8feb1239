// Measures the figures that the project states and prints them beside their targets. Build for release:
//
//     swift run -c release Benchmarks [name ...]
//
// With names, only those groups run. The exit code is 1 when a target is missed.
import Glibc

let groups: [(name: String, run: () throws -> [Figure])] = [
    ("codec", CodecBenchmark.figures),
    ("playout", PlayoutBenchmark.figures),
    ("echo", EchoBenchmark.figures),
    ("reassembler", ReassemblerBenchmark.figures),
    ("session", SessionBenchmark.figures),
]

let wanted = CommandLine.arguments.dropFirst()
if let unknown = wanted.first(where: { name in !groups.contains { $0.name == name } }) {
    print("There is no group \"\(unknown)\". There are: " + groups.map(\.name).joined(separator: ", ") + ".")
    exit(2)
}
#if DEBUG
    print("This is a debug build: the figures mean little. Use `swift run -c release Benchmarks`.")
#endif

var figures: [Figure] = []
for group in groups where wanted.isEmpty || wanted.contains(group.name) {
    do {
        figures += try group.run()
    } catch {
        print("\(group.name): \(error)")
        exit(70)
    }
}
print(Report.table(figures))
exit(figures.contains { $0.isReached == false } ? 1 : 0)
