import CGLib

/// A point on the monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds. Every stamp of a session is one of these,
/// so any two of them can be subtracted.
public struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since an arbitrary fixed point (the boot of the machine).
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The time now.
    public static var now: MonotonicTime {
        var spec = timespec()
        clock_gettime(CLOCK_MONOTONIC, &spec)
        return MonotonicTime(nanoseconds: Int64(spec.tv_sec) * 1_000_000_000 + Int64(spec.tv_nsec))
    }

    /// Seconds since the same fixed point.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    public static func < (lhs: MonotonicTime, rhs: MonotonicTime) -> Bool {
        lhs.nanoseconds < rhs.nanoseconds
    }

    public static func + (lhs: MonotonicTime, rhs: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: lhs.nanoseconds + rhs.nanoseconds)
    }

    public static func - (lhs: MonotonicTime, rhs: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: lhs.nanoseconds - rhs.nanoseconds)
    }

    public static func - (lhs: MonotonicTime, rhs: MonotonicTime) -> Duration {
        .nanoseconds(lhs.nanoseconds - rhs.nanoseconds)
    }
}

extension Duration {
    /// The whole duration in nanoseconds, saturating at the ends of `Int64`.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in milliseconds.
    public var milliseconds: Double { Double(nanoseconds) / 1e6 }

    /// The duration in seconds.
    public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
