import CGLib
import LoopCore

/// A weak reference that C code holds: what it points to may go at any time, from any thread.
final class WeakBox<Object: AnyObject> {
    weak var object: Object?

    init(_ object: Object) {
        self.object = object
    }

    /// For a `user_data` parameter; given back by ``release``.
    var retained: gpointer { Unmanaged.passRetained(self).toOpaque() }

    static func object(_ data: gpointer?) -> Object? {
        data.flatMap { Unmanaged<WeakBox>.fromOpaque($0).takeUnretainedValue().object }
    }
}

/// Gives back what ``WeakBox/retained`` took (a `GDestroyNotify`).
let releaseObject: GDestroyNotify = { data in
    if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
}

/// The same for signal connections (a `GClosureNotify`).
let releaseSignalData: GClosureNotify = { data, _ in
    if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
}

/// A Swift closure as the callback of one asynchronous GIO call. It lives until the call is over.
final class AsyncCallback {
    private let body: (OpaquePointer) -> Void

    init(_ body: @escaping (OpaquePointer) -> Void) {
        self.body = body
    }

    var retained: gpointer { Unmanaged.passRetained(self).toOpaque() }

    static let function: GAsyncReadyCallback = { _, result, data in
        guard let data else { return }
        let callback = Unmanaged<AsyncCallback>.fromOpaque(data).takeRetainedValue()
        if let result { callback.body(result) }
    }
}

/// Connects `handler` (a C function with the signal's own parameters, then `data`) to a signal.
func connectSignal<Object: AnyObject>(
    _ instance: gpointer, _ signal: String, to object: Object, handler: GCallback
) {
    g_signal_connect_data(
        instance, signal, handler, WeakBox(object).retained, releaseSignalData, GConnectFlags(rawValue: 0))
}

/// Runs `body` on the loop: at once when there, else later. For releasing objects of the loop from a `deinit`, which
/// may run on any thread.
func releaseOnLoop(_ loop: EventLoop, _ body: @escaping () -> Void) {
    if loop.isCurrent {
        body()
    } else {
        let handOver = HandOver(body: body)
        loop.execute { handOver.body() }
    }
}

/// @unchecked: the closure is made by a `deinit`, which gives it up; nobody else holds what it captures.
private struct HandOver: @unchecked Sendable {
    let body: () -> Void
}

/// The message of an error, which is freed.
func takeMessage(_ error: UnsafeMutablePointer<GError>?) -> String {
    guard let error else { return "unknown error" }
    defer { g_error_free(error) }
    return error.pointee.message.map { String(cString: $0) } ?? "unknown error"
}

/// Sets a property that holds an object.
func setProperty(_ instance: UnsafeMutableRawPointer, _ name: String, object: UnsafeMutableRawPointer) {
    var value = GValue()
    g_value_init(&value, g_object_get_type())
    g_value_set_object(&value, object)
    g_object_set_property(instance.assumingMemoryBound(to: GObject.self), name, &value)
    g_value_unset(&value)
}

/// Sets a numeric property.
func setProperty(_ instance: UnsafeMutableRawPointer, _ name: String, integer: Int32) {
    var value = GValue()
    g_value_init(&value, GType(6 << 2))
    g_value_set_int(&value, integer)
    g_object_set_property(instance.assumingMemoryBound(to: GObject.self), name, &value)
    g_value_unset(&value)
}

/// The bytes of `bytes`, which is released.
func takeBytes(_ bytes: OpaquePointer) -> [UInt8] {
    defer { g_bytes_unref(bytes) }
    var size: gsize = 0
    guard let data = g_bytes_get_data(bytes, &size) else { return [] }
    return Array(UnsafeRawBufferPointer(start: data, count: Int(size)))
}
