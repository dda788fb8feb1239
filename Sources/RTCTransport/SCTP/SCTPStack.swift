import CUsrsctp
import Glibc
import LoopCore
import Synchronization

/// usrsctp, which is one stack for the whole process, made safe for any number of event loops.
///
/// Every call into usrsctp runs inside ``enter(_:)``, under one lock, so the library only ever sees one thread at a
/// time: neither its timers nor the closing of a socket can race with anything. It runs no timer thread of its own
/// (`usrsctp_init_nothreads`); its clock is advanced on entry, and every association enters regularly while it lives.
///
/// Its callbacks therefore come inside of some entry, perhaps one of another association on another loop, when a
/// timer fires. They touch nothing but a ``SCTPMailbox``, which is looked up by a number: usrsctp is given that
/// number wherever it wants a pointer, and never follows it. A callback for an association that has closed finds
/// no mailbox and does nothing.
enum SCTPStack {
    private static let clock = Mutex(MonotonicTime(nanoseconds: 0))
    private static let mailboxes = Mutex<(next: UInt, byID: [UInt: SCTPMailbox])>((1, [:]))

    // MARK: Entry

    /// Runs `body`, which may call usrsctp. Not to be nested.
    static func enter(_ body: () -> Void) {
        clock.withLock { clock in
            initialise(&clock)
            advance(&clock)
            body()
        }
    }

    private static func initialise(_ clock: inout MonotonicTime) {
        guard clock.nanoseconds == 0 else { return }
        clock = .now
        usrsctp_init_nothreads(
            0,
            { address, bytes, count, _, _ in
                guard let bytes, count > 0, let mailbox = SCTPStack.mailbox(address) else { return 0 }
                mailbox.put(packet: Array(UnsafeRawBufferPointer(start: bytes, count: count)))
                return 0
            }, nil)
        usrsctp_sysctl_set_sctp_pr_enable(1)
        usrsctp_sysctl_set_sctp_reconfig_enable(1)
        // Not used by data channels (RFC 8831, section 5): less for garbage to reach.
        usrsctp_sysctl_set_sctp_ecn_enable(0)
        usrsctp_sysctl_set_sctp_asconf_enable(0)
        usrsctp_sysctl_set_sctp_auto_asconf(0)
        usrsctp_sysctl_set_sctp_auth_enable(0)
        usrsctp_sysctl_set_sctp_nrsack_enable(0)
        usrsctp_sysctl_set_sctp_pktdrop_enable(0)
        usrsctp_sysctl_set_sctp_inits_include_nat_friendly(0)
        // Milliseconds. The defaults (1 s at least) are for paths without the RTT of a call.
        usrsctp_sysctl_set_sctp_rto_initial_default(500)
        usrsctp_sysctl_set_sctp_rto_min_default(200)
        usrsctp_sysctl_set_sctp_rto_max_default(5000)
        usrsctp_sysctl_set_sctp_init_rto_max_default(4000)
        usrsctp_sysctl_set_sctp_delayed_sack_time_default(20)
        usrsctp_sysctl_set_sctp_init_rtx_max_default(10)
        usrsctp_sysctl_set_sctp_assoc_rtx_max_default(10)
        usrsctp_sysctl_set_sctp_path_rtx_max_default(10)
        // Packets of MTU size; RFC 6928 allows ten.
        usrsctp_sysctl_set_sctp_initial_cwnd(10)
        usrsctp_sysctl_set_sctp_max_burst_default(10)
    }

    /// usrsctp counts in milliseconds and is told in steps of 10 or more.
    private static func advance(_ clock: inout MonotonicTime) {
        let elapsed = (MonotonicTime.now - clock).nanoseconds / 1_000_000
        guard elapsed >= 10 else { return }
        clock = clock + .milliseconds(elapsed)
        usrsctp_handle_timers(UInt32(clamping: elapsed))
    }

    // MARK: Mailboxes

    /// - Returns: the number that stands for the mailbox until ``remove(_:)``. Numbers are not used twice.
    static func add(_ mailbox: SCTPMailbox) -> UInt {
        mailboxes.withLock { state in
            let id = state.next
            state.next += 1
            state.byID[id] = mailbox
            return id
        }
    }

    static func remove(_ id: UInt) {
        _ = mailboxes.withLock { $0.byID.removeValue(forKey: id) }
    }

    /// - Parameter number: a number in the shape of a pointer.
    private static func mailbox(_ number: UnsafeMutableRawPointer?) -> SCTPMailbox? {
        let id = UInt(bitPattern: number)
        return mailboxes.withLock { $0.byID[id] }
    }

    /// usrsctp's receive callback: data and notifications of a socket. The bytes are ours to free.
    static let receive:
        @convention(c) (
            OpaquePointer?, sctp_sockstore, UnsafeMutableRawPointer?, Int, sctp_rcvinfo, Int32, UnsafeMutableRawPointer?
        ) -> Int32 = { _, _, bytes, count, info, flags, number in
            defer { free(bytes) }
            guard let mailbox = SCTPStack.mailbox(number) else { return 1 }
            guard let bytes else {
                mailbox.put(event: .ended)
                return 1
            }
            let content = Array(UnsafeRawBufferPointer(start: bytes, count: count))
            if flags & notificationFlag != 0 {
                mailbox.put(event: .notification(content))
            } else {
                mailbox.put(
                    event: .fragment(
                        SCTPFragment(
                            stream: info.rcv_sid, ppid: UInt32(bigEndian: info.rcv_ppid),
                            isUnordered: Int32(info.rcv_flags) & SCTP_UNORDERED != 0,
                            isLast: flags & endOfRecordFlag != 0,
                            bytes: content)))
            }
            return 1
        }

    /// `MSG_NOTIFICATION` of `usrsctp.h`.
    private static let notificationFlag: Int32 = 0x2000
    /// `MSG_EOR` of Linux, which usrsctp uses.
    private static let endOfRecordFlag: Int32 = 0x80
}
