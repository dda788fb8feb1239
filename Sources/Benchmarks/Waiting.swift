import Dispatch

/// Runs asynchronous work from this synchronous program.
enum Waiting {
    static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        try wait { () -> Result<Value, any Error> in
            do { return .success(try await body()) } catch { return .failure(error) }
        }.get()
    }

    static func wait<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        // Written before the semaphore is signalled and read after.
        nonisolated(unsafe) var value: Value?
        Task {
            value = await body()
            done.signal()
        }
        done.wait()
        guard let value else { preconditionFailure("signalled without a value") }
        return value
    }
}
