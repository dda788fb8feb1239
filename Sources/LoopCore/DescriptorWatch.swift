import CGLib

/// Calls back on an ``EventLoop`` whenever a descriptor is readable; confined to the loop. It ends when the last
/// reference goes. The descriptor stays the caller's, and has to outlive the watch.
public final class DescriptorWatch {
    private let source: CallbackSource

    fileprivate init(loop: EventLoop, descriptor: Int32, body: @escaping () -> Void) {
        source = CallbackSource(
            loop: loop, prepare: { g_source_add_unix_fd($0, descriptor, G_IO_IN) },
            body: {
                body()
                return true
            })
    }

    /// Ends it. Harmless when repeated.
    public func cancel() { source.cancel() }
}

extension EventLoop {
    /// Calls `body` whenever `descriptor` is readable. Call on the loop; keep the watch, dropping it ends it.
    public func watch(_ descriptor: Int32, _ body: @escaping () -> Void) -> DescriptorWatch {
        DescriptorWatch(loop: self, descriptor: descriptor, body: body)
    }
}
