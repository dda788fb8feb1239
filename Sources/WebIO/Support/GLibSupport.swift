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

/// Makes an object with numeric properties that can be set only then. Nil for a type that is no object.
func makeObject(_ type: GType, _ properties: [(name: StaticString, value: Int32)]) -> UnsafeMutableRawPointer? {
    var values = properties.map { property in
        var value = GValue()
        g_value_init(&value, GType(6 << 2))
        g_value_set_int(&value, property.value)
        return value
    }
    var names = properties.map { property -> UnsafePointer<CChar>? in
        UnsafeRawPointer(property.name.utf8Start).assumingMemoryBound(to: CChar.self)
    }
    return g_object_new_with_properties(type, guint(properties.count), &names, &values).map {
        UnsafeMutableRawPointer($0)
    }
}

/// The bytes of `bytes`, which is released.
func takeBytes(_ bytes: OpaquePointer) -> [UInt8] {
    defer { g_bytes_unref(bytes) }
    var size: gsize = 0
    guard let data = g_bytes_get_data(bytes, &size) else { return [] }
    return Array(UnsafeRawBufferPointer(start: data, count: Int(size)))
}
