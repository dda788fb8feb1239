import CGLib

/// Unpacks gzip (RFC 1952) with a limit, for join requests.
enum Gzip {
    /// - Parameter limit: the most bytes that come out.
    /// - Returns: nil when it is no gzip, is cut short, or unpacks to more than the limit.
    static func decompress(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        guard let decompressor = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP) else { return nil }
        defer { g_object_unref(gpointer(decompressor)) }
        var output: [UInt8] = []
        var consumed = 0
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            var read: gsize = 0
            var written: gsize = 0
            var error: UnsafeMutablePointer<GError>?
            let result = bytes.withUnsafeBytes { input in
                buffer.withUnsafeMutableBytes { room in
                    g_converter_convert(
                        decompressor, input.baseAddress.map { $0 + consumed }, gsize(bytes.count - consumed),
                        room.baseAddress, gsize(room.count), G_CONVERTER_INPUT_AT_END, &read, &written, &error)
                }
            }
            if let error { g_error_free(error) }
            guard result != G_CONVERTER_ERROR, output.count + Int(written) <= limit else { return nil }
            consumed += Int(read)
            output += buffer.prefix(Int(written))
            if result == G_CONVERTER_FINISHED { return output }
            guard read > 0 || written > 0 else { return nil }
        }
    }
}
