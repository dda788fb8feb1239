/// A `candidate` attribute (RFC 8839, section 5.1; ICE-TCP: RFC 6544), checked field by field.
///
/// Lines come from the network. Only what was understood is written out again, in ``line``, so nothing else of the
/// peer's text reaches the ICE library.
struct ICECandidateLine: Sendable, Equatable {
    enum Kind: String, Sendable { case host, srflx, prflx, relay }
    enum Transport: Sendable, Equatable { case udp, tcpActive, tcpPassive, tcpSimultaneousOpen }

    enum Refusal: Error, Sendable, Equatable {
        case malformed
        /// RTCP is multiplexed: only component 1 is used.
        case otherComponent
        /// An mDNS name, or another name that would have to be resolved.
        case hostName
        case unsupportedTransport
        /// Not an address that packets can be sent to.
        case unusableAddress
    }

    var foundation: String
    var transport: Transport
    var priority: UInt32
    var address: String
    var port: UInt16
    var kind: Kind
    /// The address that a reflexive or relayed candidate was learned from.
    var relatedAddress: String?
    var relatedPort: UInt16?

    /// - Parameter text: with or without `a=`; unknown extensions such as `ufrag`, `generation` and `network-id` are
    ///   skipped.
    init(_ text: String) throws(Refusal) {
        var text = Substring(text)
        if text.hasPrefix("a=") { text = text.dropFirst(2) }
        guard text.hasPrefix("candidate:"), text.utf8.count <= 1024 else { throw .malformed }
        while text.last == "\r" || text.last == "\n" || text.last == "\r\n" || text.last == " " { text.removeLast() }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { throw .malformed }
        let fields = text.dropFirst(10).split(separator: " ").map(String.init)
        guard fields.count >= 8, fields[6].lowercased() == "typ" else { throw .malformed }

        foundation = fields[0]
        guard foundation.utf8.count <= 32, let component = UInt16(fields[1]), let priority = UInt32(fields[3]),
            let port = UInt16(fields[5]), let kind = Kind(rawValue: fields[7].lowercased())
        else { throw .malformed }
        self.priority = priority
        self.port = port
        self.kind = kind
        address = fields[4]

        var tcpType: String?
        var index = 8
        while index + 1 < fields.count {
            let value = fields[index + 1]
            switch fields[index].lowercased() {
            case "raddr": relatedAddress = value
            case "rport": relatedPort = UInt16(value)
            case "tcptype": tcpType = value.lowercased()
            default: break
            }
            index += 2
        }
        switch (fields[2].lowercased(), tcpType) {
        case ("udp", _): transport = .udp
        case ("tcp", "active"): transport = .tcpActive
        case ("tcp", "passive"): transport = .tcpPassive
        case ("tcp", "so"): transport = .tcpSimultaneousOpen
        default: throw .unsupportedTransport
        }

        guard component == 1 else { throw .otherComponent }
        guard IPAddress.isIPv4(address) || IPAddress.isIPv6(address) else { throw .hostName }
        guard IPAddress.isUnicast(address), port > 0 || transport == .tcpActive else { throw .unusableAddress }
        if let related = relatedAddress, let port = relatedPort, IPAddress.isUnicast(related), port > 0 { return }
        // Browsers hide the base address as 0.0.0.0:0.
        relatedAddress = nil
        relatedPort = nil
    }

    /// The attribute's value: `candidate:…`.
    var line: String {
        var line = "candidate:\(foundation) 1 \(transport == .udp ? "UDP" : "TCP") \(priority) \(address) \(port)"
        line += " typ \(kind.rawValue)"
        if let relatedAddress, let relatedPort { line += " raddr \(relatedAddress) rport \(relatedPort)" }
        switch transport {
        case .udp: break
        case .tcpActive: line += " tcptype active"
        case .tcpPassive: line += " tcptype passive"
        case .tcpSimultaneousOpen: line += " tcptype so"
        }
        return line
    }
}
