import Foundation
import LoopCore
import Synchronization
import Testing

@testable import AgentCore

@Suite(.timeLimit(.minutes(1))) struct ClientToolTests {
    // MARK: Files

    @Test func filesAreRead() throws {
        let tools = try ClientTool.read(
            """
            tools:
              - name: weather
                description: What it is like
                parameters: {type: object, required: [city]}
                command: [./weather.py, --brief]
                timeout: 500ms
                concurrency: 2
              - {name: place, reply: {lat: 52.5}}
              - {name: word, reply: "yes"}
              - {name: line, shell: "jq .a | wc -c"}
            """, file: "/etc/agent/tools.yaml")
        #expect(tools.map(\.name) == ["weather", "place", "word", "line"])
        #expect(tools[0].action == .command(["/etc/agent/weather.py", "--brief"]))
        #expect(tools[0].timeLimit == .milliseconds(500))
        #expect(tools[0].concurrency == 2)
        #expect(tools[1].action == .reply(#"{"lat":52.5}"#))
        #expect(tools[2].action == .reply("yes"))
        #expect(tools[3].action == .command(["/bin/sh", "-c", "jq .a | wc -c"]))
    }

    @Test(arguments: [
        ("tools: []\nmore: 1", "2:1"), ("x: 1", "1:1"), ("tools:\n  - name: a", "2:5"),
        ("tools:\n  - {name: a, reply: 1, shell: b}", "2:5"), ("tools:\n  - {name: a, command: ls -l}", "2:"),
        ("tools:\n  - {name: a, reply: 1}\n  - {name: a, reply: 2}", "3:5"),
        ("tools:\n  - {name: a, reply: 1, parameters: {type: text}}", "2:"),
        ("tools:\n  - {name: a, reply: 1, timeot: 1}", "2:"), ("tools: [", "2:1"),
    ])
    func faultsHaveAPlace(text: String, place: String) {
        do {
            _ = try ClientTool.read(text, file: "tools.yaml")
            Issue.record("it was taken")
        } catch {
            #expect("\(error)".hasPrefix("tools.yaml:\(place)"), "\(error)")
        }
    }

    @Test func theExampleIsGood() throws {
        let path = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/config/tools.yaml"
        #expect(try ClientTool.load(path: path).count == 2)
        #expect(throws: ScenarioError.self) { try ClientTool.load(path: "/no/such/tools.yaml") }
    }

    // MARK: Calls

    private func call(
        _ box: ToolBox, _ tool: String, _ parameters: String = "{}", limit: Duration = .seconds(10)
    ) async -> Result<String, RPCError> {
        let now = MonotonicTime.now
        let call = ToolCall(id: UUID().uuidString, caller: "agent", tool: tool, parameters: parameters)
        return await withCheckedContinuation { continuation in
            let answer = box.call(call, deadline: now + limit, now: now) { continuation.resume(returning: $0) }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    private func box(_ lines: String) throws -> ToolBox {
        ToolBox(try ClientTool.read("tools:\n" + lines, file: "tools.yaml"))
    }

    @Test func aCommandGetsTheParametersAndGivesTheResult() async throws {
        let box = try box(
            """
              - {name: cat, command: [cat]}
              - {name: env, shell: 'echo "$AGENTCTL_TOOL $AGENTCTL_CALLER ${LIVEKIT_API_SECRET:-none}"'}
              - {name: fd, shell: 'ls /proc/self/fd | wc -l'}
              - {name: deaf, command: ["true"]}
            """)
        setenv("LIVEKIT_API_SECRET", "not-for-tools", 1)
        defer { unsetenv("LIVEKIT_API_SECRET") }
        // More than a pipe holds; the answer has to fit a packet.
        let text = #"{"a":"\#(String(repeating: "ä", count: 7_000))"}"#
        #expect(await call(box, "cat", text) == .success(text))
        #expect(await call(box, "env") == .success("env agent none"))
        // Standard input, output and error, and the folder that ls reads.
        #expect(await call(box, "fd") == .success("4"))
        #expect(await call(box, "deaf", String(repeating: "x", count: 200_000)) == .success(""))
    }

    @Test func failuresAreToldApart() async throws {
        let box = try box(
            """
              - {name: fails, shell: 'echo first >&2; echo the reason >&2; exit 3'}
              - {name: dies, shell: 'kill -9 $$'}
              - {name: missing, command: [no-such-program-here]}
              - {name: binary, command: [printf, '\\377']}
              - {name: talks, command: ["yes"]}
              - {name: strict, reply: 1, parameters: {required: [city]}}
            """)
        #expect(await call(box, "fails") == .failure(.application("fails failed with status 3: the reason")))
        #expect(await call(box, "dies") == .failure(.application("dies failed with status 137")))
        #expect(
            await call(box, "missing")
                == .failure(.application("missing could not be started: No such file or directory")))
        #expect(await call(box, "binary") == .failure(.application("binary wrote something that is not UTF-8")))
        #expect(await call(box, "talks") == .failure(.responsePayloadTooLarge))
        #expect(await call(box, "nothing") == .failure(.unsupportedMethod))
        #expect(
            await call(box, "strict", "{}")
                == .failure(.application("the parameters of strict do not fit: $.city is missing")))
        #expect(await call(box, "strict", "{") == .failure(.application("the parameters of strict are not JSON")))
    }

    /// The limits: of time, with whatever the command started; of calls at once.
    @Test func limitsHold() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let box = try box(
            """
              - {name: slow, shell: '(sleep 2; touch \(folder)) & sleep 30', timeout: 300ms}
              - {name: one, command: [sleep, "30"], concurrency: 1}
            """)
        let began = ContinuousClock.now
        #expect(await call(box, "slow") == .failure(.responseTimeout))
        #expect(ContinuousClock.now - began < .seconds(5))
        // The caller's patience counts too.
        #expect(await call(box, "slow", limit: .milliseconds(50)) == .failure(.responseTimeout))

        let first = ToolCall(id: "1", caller: "agent", tool: "one", parameters: "")
        let ended = Mutex(false)
        let now = MonotonicTime.now
        let answer = box.call(first, deadline: now + .seconds(20), now: now) { _ in ended.withLock { $0 = true } }
        #expect(answer == nil)
        #expect(await call(box, "one") == .failure(.application("one is busy: 1 calls are running")))
        box.cancelAll()
        for _ in 0..<100 where !ended.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(20)) }
        #expect(ended.withLock { $0 })
        try await Task.sleep(for: .milliseconds(2200))
        #expect(!FileManager.default.fileExists(atPath: folder), "what the command left behind still ran")
    }
}
