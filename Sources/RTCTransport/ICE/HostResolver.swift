import CGLib

/// Resolves one host name with GLib's resolver: no blocking, the answer comes on the loop. Confined to the loop.
final class HostResolver {
    /// What the pending look-up owns. It outlives the resolver object; `completion` goes when that is cancelled.
    private final class Request {
        var completion: (([String]) -> Void)?
        init(_ completion: @escaping ([String]) -> Void) { self.completion = completion }
    }

    private let request: Request
    private let cancellable: UnsafeMutablePointer<GCancellable>?

    /// - Parameter completion: called once on the loop, never within this call, with numeric addresses; with none
    ///   when the name does not resolve. Not called after ``cancel()`` or once this object is gone.
    init(host: String, completion: @escaping ([String]) -> Void) {
        request = Request(completion)
        cancellable = g_cancellable_new()
        let resolver = g_resolver_get_default()
        g_resolver_lookup_by_name_async(
            resolver, host, cancellable,
            { source, result, data in
                guard let data else { return }
                // Balances passRetained below; GLib calls back exactly once, also when cancelled.
                let request = Unmanaged<Request>.fromOpaque(data).takeRetainedValue()
                let resolver = source.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GResolver.self) }
                var error: UnsafeMutablePointer<GError>?
                let list = g_resolver_lookup_by_name_finish(resolver, result, &error)
                g_clear_error(&error)
                var addresses: [String] = []
                var next = list
                while let entry = next {
                    next = entry.pointee.next
                    guard let data = entry.pointee.data,
                        let text = g_inet_address_to_string(data.assumingMemoryBound(to: GInetAddress.self))
                    else { continue }
                    addresses.append(String(cString: text))
                    g_free(text)
                }
                g_resolver_free_addresses(list)
                request.completion?(addresses)
            }, Unmanaged.passRetained(request).toOpaque())
        g_object_unref(resolver)
    }

    deinit {
        cancel()
        g_object_unref(cancellable)
    }

    func cancel() {
        request.completion = nil
        g_cancellable_cancel(cancellable)
    }
}
