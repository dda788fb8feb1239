import CUsrsctp
import Glibc
import LoopCore

/// A usrsctp socket of one association. Confined to the loop; every call into usrsctp goes through ``SCTPStack``.
final class SCTPSocket {
    /// The largest SCTP packet in bytes, so that with DTLS, TURN and IPv6 it stays below 1280 bytes.
    static let mtu: UInt32 = 1200 - 28

    enum SendResult: Equatable {
        case sent
        case wouldBlock
        case failed
    }

    struct Outgoing {
        var stream: UInt16
        var ppid: UInt32
        var bytes: [UInt8]
        var ordered: Bool
        var maxRetransmits: UInt16?
        /// Milliseconds.
        var maxPacketLifetime: UInt16?
    }

    private let mailbox: SCTPMailbox
    private let id: UInt
    private var socket: OpaquePointer?

    /// Nil when usrsctp cannot make or configure a socket.
    init?(
        mailbox: SCTPMailbox, localPort: UInt16, streams: UInt16, sendBuffer: Int, receiveBuffer: Int
    ) {
        self.mailbox = mailbox
        id = SCTPStack.add(mailbox)
        var isBound = false
        enter { number in
            usrsctp_register_address(number)
            socket = usrsctp_socket(
                AF_CONN, Int32(SOCK_STREAM.rawValue), Int32(IPPROTO_SCTP), SCTPStack.receive, nil, 0, number)
            guard let socket else { return }
            guard
                Self.configure(
                    socket, streams: streams, sendBuffer: Int32(clamping: sendBuffer),
                    receiveBuffer: Int32(clamping: receiveBuffer))
            else { return }
            isBound = withAddress(port: localPort) { usrsctp_bind(socket, $0, $1) == 0 }
        }
        guard isBound else {
            close()
            return nil
        }
    }

    deinit {
        close()
    }

    /// Sends INIT. Both ends do; usrsctp resolves the collision (RFC 9260, section 5.2).
    func connect(port: UInt16) -> Bool {
        var isConnecting = false
        enter { _ in
            isConnecting = withAddress(port: port) { address, length in
                guard usrsctp_connect(socket, address, length) == 0 || errno == EINPROGRESS else { return false }
                // The MTU is one of the path, which exists from here on.
                var path = sctp_paddrparams()
                memcpy(&path.spp_address, address, Int(length))
                path.spp_flags = UInt32(SPP_PMTUD_DISABLE)
                // Counted without the common header.
                path.spp_pathmtu = Self.mtu - UInt32(MemoryLayout<sctp_common_header>.size)
                let size = socklen_t(MemoryLayout<sctp_paddrparams>.size)
                return usrsctp_setsockopt(socket, Int32(IPPROTO_SCTP), SCTP_PEER_ADDR_PARAMS, &path, size) == 0
            }
        }
        return isConnecting
    }

    func receive(_ packet: [UInt8]) {
        enter { number in usrsctp_conninput(number, packet, packet.count, 0) }
    }

    /// Lets timers run that are due.
    func tick() {
        enter { _ in }
    }

    func send(_ message: Outgoing) -> SendResult {
        var info = sctp_sendv_spa()
        info.sendv_flags = UInt32(SCTP_SEND_SNDINFO_VALID)
        info.sendv_sndinfo.snd_sid = message.stream
        info.sendv_sndinfo.snd_ppid = message.ppid.bigEndian
        info.sendv_sndinfo.snd_flags = message.ordered ? 0 : UInt16(SCTP_UNORDERED)
        if let count = message.maxRetransmits {
            info.sendv_flags |= UInt32(SCTP_SEND_PRINFO_VALID)
            info.sendv_prinfo.pr_policy = UInt16(SCTP_PR_SCTP_RTX)
            info.sendv_prinfo.pr_value = UInt32(count)
        } else if let lifetime = message.maxPacketLifetime {
            info.sendv_flags |= UInt32(SCTP_SEND_PRINFO_VALID)
            info.sendv_prinfo.pr_policy = UInt16(SCTP_PR_SCTP_TTL)
            info.sendv_prinfo.pr_value = UInt32(lifetime)
        }
        var result = SendResult.failed
        enter { _ in
            guard let socket else { return }
            let sent = usrsctp_sendv(
                socket, message.bytes, message.bytes.count, nil, 0, &info,
                socklen_t(MemoryLayout<sctp_sendv_spa>.size), UInt32(SCTP_SENDV_SPA), 0)
            if sent >= 0 {
                result = .sent
            } else if errno == EWOULDBLOCK || errno == EAGAIN || errno == ENOBUFS {
                result = .wouldBlock
            }
        }
        return result
    }

    /// Ends streams of this end (RFC 6525, section 5.1.2), after what was sent on them.
    /// - Returns: false when that has to be tried again later.
    func resetOutgoing(_ streams: [UInt16]) -> Bool {
        // struct sctp_reset_streams, whose flexible array member is not imported.
        var request: [UInt8] = []
        withUnsafeBytes(of: UInt32(SCTP_ALL_ASSOC)) { request += $0 }
        withUnsafeBytes(of: UInt16(SCTP_STREAM_RESET_OUTGOING)) { request += $0 }
        withUnsafeBytes(of: UInt16(clamping: streams.count)) { request += $0 }
        for stream in streams { withUnsafeBytes(of: stream) { request += $0 } }
        var isAccepted = false
        enter { _ in
            isAccepted =
                usrsctp_setsockopt(
                    socket, Int32(IPPROTO_SCTP), SCTP_RESET_STREAMS, request, socklen_t(request.count)) == 0
        }
        return isAccepted
    }

    /// Aborts the association. usrsctp may keep state for a while; its callbacks do nothing from here on, except for
    /// the ABORT, which is in the mailbox.
    func close() {
        guard id != 0, !isClosed else { return }
        isClosed = true
        enter { number in
            if let socket { usrsctp_close(socket) }
            usrsctp_deregister_address(number)
        }
        socket = nil
        SCTPStack.remove(id)
    }
    private var isClosed = false

    // MARK: Calling usrsctp

    private func enter(_ body: (_ number: UnsafeMutableRawPointer?) -> Void) {
        mailbox.attend()
        SCTPStack.enter { body(UnsafeMutableRawPointer(bitPattern: id)) }
        mailbox.leave()
    }

    private func withAddress(port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        var address = sockaddr_conn()
        address.sconn_family = UInt16(AF_CONN)
        address.sconn_port = port.bigEndian
        address.sconn_addr = UnsafeMutableRawPointer(bitPattern: id)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_conn>.size))
            }
        }
    }

    private static func configure(
        _ socket: OpaquePointer, streams: UInt16, sendBuffer: Int32, receiveBuffer: Int32
    ) -> Bool {
        func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) -> Bool {
            withUnsafeBytes(of: value) {
                usrsctp_setsockopt(socket, level, option, $0.baseAddress, socklen_t($0.count)) == 0
            }
        }
        let sctp = Int32(IPPROTO_SCTP)
        let events = [SCTP_ASSOC_CHANGE, SCTP_STREAM_RESET_EVENT, SCTP_SHUTDOWN_EVENT, SCTP_PARTIAL_DELIVERY_EVENT]
        return usrsctp_set_non_blocking(socket, 1) == 0
            // Closing aborts, so nothing of the association is left behind.
            && set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
            && set(SOL_SOCKET, SO_SNDBUF, sendBuffer)
            && set(SOL_SOCKET, SO_RCVBUF, receiveBuffer)
            && set(sctp, SCTP_NODELAY, Int32(1))
            && set(
                sctp, SCTP_ENABLE_STREAM_RESET,
                sctp_assoc_value(
                    assoc_id: UInt32(SCTP_ALL_ASSOC),
                    assoc_value: UInt32(SCTP_ENABLE_RESET_STREAM_REQ | SCTP_ENABLE_CHANGE_ASSOC_REQ)))
            && set(
                sctp, SCTP_INITMSG,
                sctp_initmsg(
                    sinit_num_ostreams: streams, sinit_max_instreams: streams, sinit_max_attempts: 10,
                    sinit_max_init_timeo: 4000))
            && events.allSatisfy {
                set(sctp, SCTP_EVENT, sctp_event(se_assoc_id: UInt32(SCTP_ALL_ASSOC), se_type: UInt16($0), se_on: 1))
            }
    }
}
