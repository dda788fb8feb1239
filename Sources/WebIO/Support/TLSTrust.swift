import CGLib

/// Which certificates a client accepts.
enum TLSTrust {
    /// The authorities of a PEM file. The caller owns the reference.
    static func database(caFile: String) throws(WebError) -> UnsafeMutablePointer<GTlsDatabase> {
        var error: UnsafeMutablePointer<GError>?
        // GLib wants an absolute path.
        let path = g_canonicalize_filename(caFile, nil)
        defer { g_free(path) }
        guard let database = g_tls_file_database_new(path, &error) else {
            throw .other("the CA file \"\(caFile)\" cannot be used (\(takeMessage(error))): give a PEM file")
        }
        return UnsafeMutableRawPointer(database).assumingMemoryBound(to: GTlsDatabase.self)
    }
}
