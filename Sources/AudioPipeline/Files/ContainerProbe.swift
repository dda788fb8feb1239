/// Looks at the outline of a container, to find out whether the file is as long as its header says: libsndfile
/// silently shortens what is cut off. Knows RIFF and RF64 WAV, AIFF, AU and Ogg; other formats tell by their frame
/// count.
struct ContainerProbe: Equatable {
    /// Bytes of sample data that the header declares; nil where it leaves the length open.
    var declaredBytes: UInt64?
    /// Bytes of sample data that the file really holds.
    var presentBytes: UInt64 = 0
    /// The file ends before its header does.
    var endsInHeader = false
    /// An Ogg file whose last page is not marked as the end of the stream.
    var lacksEndOfStream = false
    /// Where the size of the samples is in a little-endian RIFF header.
    private var sizeOffset: UInt64?

    init(
        declaredBytes: UInt64? = nil, presentBytes: UInt64 = 0, endsInHeader: Bool = false,
        lacksEndOfStream: Bool = false
    ) {
        self.declaredBytes = declaredBytes
        self.presentBytes = presentBytes
        self.endsInHeader = endsInHeader
        self.lacksEndOfStream = lacksEndOfStream
    }

    var missingBytes: UInt64 {
        guard let declaredBytes, declaredBytes > presentBytes else { return 0 }
        return declaredBytes - presentBytes
    }

    /// Frames that are missing, worked out from the share of the data that is there.
    func missingFrames(present frames: Int) -> Int? {
        guard missingBytes > 0, presentBytes > 0, frames > 0 else { return nil }
        let ratio = Double(missingBytes) / Double(presentBytes) * Double(frames)
        return ratio < 1e15 ? Int(ratio.rounded(.up)) : nil
    }

    /// The bytes that a WAV header without sizes should have where: the sizes of the file and of the samples.
    func openSizes(data size: UInt32) -> [(offset: UInt64, bytes: [UInt8])] {
        guard let sizeOffset, let whole = UInt32(exactly: UInt64(size) + sizeOffset - 4) else { return [] }
        return [(4, whole), (sizeOffset, size)].map { offset, value in
            (offset, withUnsafeBytes(of: value.littleEndian) { Array($0) })
        }
    }

    /// Probes a file; nil for a container that is not known here.
    static func probe(_ file: FileBytes) -> ContainerProbe? {
        let size = file.size
        let read = { (offset: UInt64, count: Int) -> [UInt8] in file.read(at: offset, count: count) }
        let start = read(0, 12)
        guard start.count >= 4 else { return nil }
        switch String(decoding: start.prefix(4), as: UTF8.self) {
        case "RIFF", "RF64": return chunks(data: "data", start: start, size: size, bigEndian: false, read: read)
        case "RIFX": return chunks(data: "data", start: start, size: size, bigEndian: true, read: read)
        case "FORM": return chunks(data: "SSND", start: start, size: size, bigEndian: true, read: read)
        case ".snd": return sun(start: start, size: size)
        case "OggS": return ogg(size: size, read: read)
        default: return nil
        }
    }

    /// Walks the chunks of a RIFF or IFF file up to the one with the samples.
    private static func chunks(
        data wanted: String, start: [UInt8], size: UInt64, bigEndian: Bool, read: (UInt64, Int) -> [UInt8]
    ) -> ContainerProbe? {
        var probe = ContainerProbe()
        guard start.count == 12 else {
            probe.endsInHeader = true
            return probe
        }
        var offset: UInt64 = 12
        var longDataSize: UInt64?
        for _ in 0..<1024 {
            let header = read(offset, 8)
            guard header.count == 8 else {
                probe.endsInHeader = true
                return probe
            }
            let name = String(decoding: header.prefix(4), as: UTF8.self)
            let length = UInt64(number(header[4..<8], bigEndian: bigEndian))
            let body = offset + 8
            if name == "ds64" {
                let sizes = read(body, 16)
                if sizes.count == 16 {
                    longDataSize =
                        UInt64(number(sizes[8..<12], bigEndian: false))
                        | UInt64(number(sizes[12..<16], bigEndian: false)) << 32
                }
            } else if name == wanted {
                // IFF keeps an offset and a block size before the samples.
                let skip: UInt64 = wanted == "SSND" ? 8 : 0
                probe.presentBytes = size > body + skip ? size - body - skip : 0
                if length == 0xFFFF_FFFF {
                    probe.declaredBytes = longDataSize
                    if longDataSize == nil && !bigEndian { probe.sizeOffset = offset + 4 }
                } else if length == 0 && probe.presentBytes > 0 {
                    // Written by a program that never came back to fill it in.
                    if !bigEndian { probe.sizeOffset = offset + 4 }
                } else {
                    probe.declaredBytes = length > skip ? length - skip : 0
                    probe.presentBytes = min(probe.presentBytes, max(length, skip) - skip)
                }
                return probe
            }
            offset = body + length + (length & 1)
        }
        return nil
    }

    private static func sun(start: [UInt8], size: UInt64) -> ContainerProbe? {
        guard start.count == 12 else { return ContainerProbe(endsInHeader: true) }
        let offset = UInt64(number(start[4..<8], bigEndian: true))
        let length = UInt64(number(start[8..<12], bigEndian: true))
        let present = size > offset ? size - offset : 0
        guard length != 0xFFFF_FFFF else { return ContainerProbe(presentBytes: present) }
        return ContainerProbe(declaredBytes: length, presentBytes: min(present, length))
    }

    /// The flags of the last page; a page is at most 65,307 bytes (RFC 3533 section 6).
    private static func ogg(size: UInt64, read: (UInt64, Int) -> [UInt8]) -> ContainerProbe? {
        let length = Int(min(size, 65_307))
        let tail = read(size - UInt64(length), length)
        var index = tail.count - 27
        while index >= 0 {
            if tail[index] == 0x4F, tail[index + 1] == 0x67, tail[index + 2] == 0x67, tail[index + 3] == 0x53 {
                return ContainerProbe(lacksEndOfStream: tail[index + 5] & 4 == 0)
            }
            index -= 1
        }
        return ContainerProbe(lacksEndOfStream: true)
    }

    private static func number(_ bytes: ArraySlice<UInt8>, bigEndian: Bool) -> UInt32 {
        let ordered = bigEndian ? Array(bytes) : bytes.reversed()
        return ordered.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
