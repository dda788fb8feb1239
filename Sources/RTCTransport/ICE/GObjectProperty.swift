import CGLib

/// Properties of GObjects by name; `g_object_set` is variadic, which Swift does not import.
enum GObjectProperty {
    static func set(_ object: OpaquePointer, _ name: String, _ value: Bool) {
        set(object, name, type: "gboolean") { g_value_set_boolean(&$0, value ? 1 : 0) }
    }

    static func set(_ object: OpaquePointer, _ name: String, _ value: UInt32) {
        set(object, name, type: "guint") { g_value_set_uint(&$0, value) }
    }

    static func set(_ object: OpaquePointer, _ name: String, _ value: String) {
        set(object, name, type: "gchararray") { g_value_set_string(&$0, value) }
    }

    static func boolean(_ object: OpaquePointer, _ name: String) -> Bool {
        var value = GValue()
        g_value_init(&value, g_type_from_name("gboolean"))
        defer { g_value_unset(&value) }
        g_object_get_property(UnsafeMutableRawPointer(object).assumingMemoryBound(to: GObject.self), name, &value)
        return g_value_get_boolean(&value) != 0
    }

    private static func set(_ object: OpaquePointer, _ name: String, type: String, _ fill: (inout GValue) -> Void) {
        var value = GValue()
        g_value_init(&value, g_type_from_name(type))
        defer { g_value_unset(&value) }
        fill(&value)
        g_object_set_property(UnsafeMutableRawPointer(object).assumingMemoryBound(to: GObject.self), name, &value)
    }
}
