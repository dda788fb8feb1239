/// An RTP packet (RFC 3550 section 5.1) with its header extensions (RFC 8285).
public struct RTPPacket: Sendable, Equatable {
    public var marker = false
    /// 7 bits.
    public var payloadType: UInt8
    public var sequenceNumber: UInt16
    /// In units of the payload's clock: 48 kHz for Opus.
    public var timestamp: UInt32
    public var ssrc: UInt32
    public var contributingSources: [UInt32] = []
    public var extensions: [HeaderExtension] = []
    public var payload: [UInt8]

    /// One element of the header extension: `id` 1...14 in the one-byte form, 1...255 in the two-byte form.
    public struct HeaderExtension: Sendable, Equatable {
        public var id: UInt8
        public var data: [UInt8]

        public init(id: UInt8, data: [UInt8]) {
            self.id = id
            self.data = data
        }
    }

    public init(payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32, payload: [UInt8]) {
        self.payloadType = payloadType
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
        self.payload = payload
    }

    /// The length of the fixed header in bytes.
    public static let headerLength = 12

    /// Parses a packet.
    /// - Throws: ``RTPError/malformed`` for anything that is not version 2 or ends too early.
    public init(parsing bytes: [UInt8]) throws(RTPError) {
        guard bytes.count >= Self.headerLength, bytes[0] >> 6 == 2 else { throw .malformed }
        let sources = Int(bytes[0] & 0x0f)
        marker = bytes[1] & 0x80 != 0
        payloadType = bytes[1] & 0x7f
        sequenceNumber = bytes.uint16(at: 2)
        timestamp = bytes.uint32(at: 4)
        ssrc = bytes.uint32(at: 8)
        var position = Self.headerLength + 4 * sources
        guard bytes.count >= position else { throw .malformed }
        contributingSources = (0..<sources).map { bytes.uint32(at: Self.headerLength + 4 * $0) }
        if bytes[0] & 0x10 != 0 {
            guard bytes.count >= position + 4 else { throw .malformed }
            let profile = bytes.uint16(at: position)
            let length = 4 * Int(bytes.uint16(at: position + 2))
            position += 4
            guard bytes.count >= position + length else { throw .malformed }
            extensions = Self.extensions(bytes[position..<position + length], profile: profile)
            position += length
        }
        var end = bytes.count
        if bytes[0] & 0x20 != 0 {
            guard end > position, let padding = bytes.last, padding > 0, Int(padding) <= end - position else {
                throw .malformed
            }
            end -= Int(padding)
        }
        payload = Array(bytes[position..<end])
    }

    private static func extensions(_ bytes: ArraySlice<UInt8>, profile: UInt16) -> [HeaderExtension] {
        var result: [HeaderExtension] = []
        var position = bytes.startIndex
        let isShort = profile == 0xbede
        guard isShort || profile & 0xfff0 == 0x1000 else { return [] }
        while position < bytes.endIndex {
            if bytes[position] == 0 {
                position += 1
                continue
            }
            let id: UInt8
            let length: Int
            if isShort {
                id = bytes[position] >> 4
                length = Int(bytes[position] & 0x0f) + 1
                position += 1
                if id == 15 { break }
            } else {
                guard position + 1 < bytes.endIndex else { break }
                id = bytes[position]
                length = Int(bytes[position + 1])
                position += 2
            }
            guard position + length <= bytes.endIndex else { break }
            result.append(HeaderExtension(id: id, data: Array(bytes[position..<position + length])))
            position += length
        }
        return result
    }

    /// The data of the extension element with that id.
    public func headerExtension(_ id: UInt8) -> [UInt8]? {
        extensions.first { $0.id == id }?.data
    }

    /// The packet as bytes. The one-byte form of extensions is used when every element fits in it.
    public func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headerLength + payload.count + 32)
        let sources = contributingSources.prefix(15)
        bytes.append(0x80 | (extensions.isEmpty ? 0 : 0x10) | UInt8(sources.count))
        bytes.append((marker ? 0x80 : 0) | payloadType & 0x7f)
        bytes.append(bigEndian: sequenceNumber)
        bytes.append(bigEndian: timestamp)
        bytes.append(bigEndian: ssrc)
        for source in sources { bytes.append(bigEndian: source) }
        if !extensions.isEmpty { appendExtensions(to: &bytes) }
        bytes.append(contentsOf: payload)
        return bytes
    }

    private func appendExtensions(to bytes: inout [UInt8]) {
        let isShort = extensions.allSatisfy { (1...14).contains($0.id) && (1...16).contains($0.data.count) }
        bytes.append(bigEndian: UInt16(isShort ? 0xbede : 0x1000))
        let lengthAt = bytes.count
        bytes.append(bigEndian: UInt16(0))
        for element in extensions {
            let data = element.data.prefix(255)
            if isShort {
                bytes.append(element.id << 4 | UInt8(data.count - 1))
            } else {
                bytes.append(element.id)
                bytes.append(UInt8(data.count))
            }
            bytes.append(contentsOf: data)
        }
        while (bytes.count - lengthAt - 2) % 4 != 0 { bytes.append(0) }
        let words = UInt16((bytes.count - lengthAt - 2) / 4)
        bytes[lengthAt] = UInt8(words >> 8)
        bytes[lengthAt + 1] = UInt8(truncatingIfNeeded: words)
    }
}

/// Why bytes are not RTP, RTCP or RED.
public enum RTPError: Error, Sendable, Equatable {
    case malformed
}
