public import LoopCore

/// Puts received Opus packets in order, waits as long as the network's jitter makes it worth while, and says at
/// each moment what is to be played. Pure: no clock, no decoder.
///
/// Packets are kept by their extended RTP timestamp; sequence numbers tell what was lost from what was never sent
/// (a sender's silence). The delay is that between the earliest possible arrival of a packet and its playout; it
/// follows `DelayEstimator` by stretching and shrinking the sound a little at a time, at once where the sender
/// pauses, and by skipping after a stall. Bounded: at most `capacity` packets and `Configuration.maximumDelay` plus
/// 200 ms of delay.
public struct JitterBuffer: Sendable {
    public struct Configuration: Sendable, Equatable {
        /// The least delay aimed at.
        public var minimumDelay = Duration.milliseconds(20)
        /// The delay aimed at until there is something to learn from.
        public var startDelay = Duration.milliseconds(40)
        /// The greatest delay aimed at.
        public var maximumDelay = Duration.milliseconds(400)
        /// After so long without a packet the stream is taken for paused.
        public var pauseAfter = Duration.milliseconds(500)

        public init() {}
    }

    /// One Opus packet as it was received.
    public struct Frame: Sendable, Equatable {
        public var payload: [UInt8]
        /// RTP timestamp (48 kHz) of its first sample.
        public var timestamp: UInt32
        /// RTP sequence number; of no meaning for a redundant copy.
        public var sequenceNumber: UInt16
        /// A copy that came in a later packet (RFC 2198).
        public var isRedundant: Bool
        public var ssrc: UInt32
        public var arrival: MonotonicTime

        public init(
            payload: [UInt8], timestamp: UInt32, sequenceNumber: UInt16, isRedundant: Bool = false, ssrc: UInt32 = 0,
            arrival: MonotonicTime
        ) {
            self.payload = payload
            self.timestamp = timestamp
            self.sequenceNumber = sequenceNumber
            self.isRedundant = isRedundant
            self.ssrc = ssrc
            self.arrival = arrival
        }
    }

    /// How a played packet should change the delay.
    public enum Stretch: Sendable, Equatable {
        case none, shorten, lengthen
    }

    /// What to play next.
    public enum Output: Sendable, Equatable {
        /// Nothing: the stream has not begun, or pauses.
        case silence(frames: Int)
        /// Make up that much. `isComfort`: the sender itself is silent.
        case conceal(frames: Int, isComfort: Bool)
        /// Decode the copy of the lost frame of `frames` samples in the packet `from` (which comes again, to be
        /// played), and use the last `keeping` samples of it.
        case recover(from: [UInt8], frames: Int, keeping: Int)
        /// Decode this packet of `frames` samples. `isNewStream`: with a fresh decoder.
        case play([UInt8], frames: Int, isNewStream: Bool, stretch: Stretch)
    }

    /// The most packets kept.
    public static let capacity = 512

    public let configuration: Configuration
    public private(set) var statistics = PlayoutStatistics()

    private struct Entry: Sendable {
        var timestamp: Int64
        var sequence: Int64?
        var payload: [UInt8]
        var outline: OpusPacket
    }

    private static let unit = AudioFormat.framesPer10ms
    private static let second: Int64 = 48_000
    private let minimumDelay: Int
    private let startDelay: Int
    private let maximumDelay: Int
    private let pauseAfter: Int

    private var ssrc: UInt32?
    private var entries: [Entry] = []
    private var estimator = DelayEstimator()
    private var sequences = SequenceWindow()
    private var newestTimestamp: Int64?
    private var isNewStream = true

    /// Playing, as opposed to waiting for a beginning.
    private var isPlaying = false
    /// The timestamp that is to be played next; kept in a pause, so that nothing older is played after it.
    private var position: Int64?
    private var lastSequence: Int64?
    private var lastWasSilence = false
    private var lastFrames = AudioFormat.framesPer20ms
    /// Samples made up since the buffer ran empty, not yet accounted for.
    private var held = 0
    private var consecutiveLate = 0
    private var smoothedDelay: Double?
    private var nextStretch: Int64 = 0
    private var lossRate = 0.0
    private var isLossy = false
    /// How many packets later the last copy of a frame comes (RFC 2198); 1 where FEC is all there is.
    private var redundancyDepth = 1

    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        minimumDelay = AudioFormat.frames(in: configuration.minimumDelay)
        maximumDelay = max(minimumDelay, min(AudioFormat.frames(in: configuration.maximumDelay), 5 * 48_000))
        startDelay = min(max(AudioFormat.frames(in: configuration.startDelay), minimumDelay), maximumDelay)
        pauseAfter = AudioFormat.frames(in: configuration.pauseAfter)
    }

    /// Packets that wait.
    public var count: Int { entries.count }

    /// The delay aimed at, in samples.
    private var target: Int {
        // Where packets are lost, waiting for the next one lets its FEC or RED fill the gap.
        let floor = minimumDelay + (isLossy ? lastFrames * redundancyDepth : 0)
        let wanted = estimator.spread + Self.unit
        return min(maximumDelay, max(floor, estimator.isLearning ? max(startDelay, wanted) : wanted))
    }

    // MARK: Arrivals

    /// Takes a packet as it arrives.
    public mutating func insert(_ frame: Frame) {
        guard let outline = OpusPacket(frame.payload) else {
            if !frame.isRedundant {
                statistics.received += 1
                statistics.invalid += 1
            }
            return
        }
        if ssrc != frame.ssrc {
            if ssrc != nil { reset() }
            ssrc = frame.ssrc
        }
        let timestamp = extend(frame.timestamp)
        if frame.isRedundant {
            if let newestTimestamp, outline.frames > 0 {
                let distance = (newestTimestamp - timestamp) / Int64(outline.frames) + 1
                redundancyDepth = Int(max(Int64(redundancyDepth), min(3, distance)))
            }
            guard timestamp >= position ?? .min else { return }
            store(Entry(timestamp: timestamp, sequence: nil, payload: frame.payload, outline: outline))
            return
        }
        statistics.received += 1
        guard let sequence = sequences.insert(frame.sequenceNumber) else {
            statistics.duplicates += 1
            return
        }
        if let position, timestamp < position {
            noteLate(frame, by: position - timestamp)
            return
        }
        accept(
            Entry(timestamp: timestamp, sequence: sequence, payload: frame.payload, outline: outline),
            arrival: frame.arrival)
    }

    private mutating func accept(_ entry: Entry, arrival: MonotonicTime) {
        consecutiveLate = 0
        newestTimestamp = entry.timestamp
        if !isPlaying && position != nil && entries.isEmpty { estimator.restartBase() }
        estimator.add(arrival: Self.samples(arrival), timestamp: entry.timestamp)
        store(entry)
    }

    /// A late packet is of no use, except that it says how late packets are, and that many of them in a row, or
    /// one that is seconds late, mean that the sender has begun anew.
    private mutating func noteLate(_ frame: Frame, by samples: Int64) {
        consecutiveLate += 1
        if consecutiveLate >= 50 || (samples > 2 * Self.second && consecutiveLate >= 2) {
            reset()
            ssrc = frame.ssrc
            statistics.received -= 1
            insert(frame)
            return
        }
        statistics.late += 1
        if samples <= Self.second {
            estimator.add(arrival: Self.samples(frame.arrival), timestamp: extend(frame.timestamp))
        }
    }

    private mutating func store(_ entry: Entry) {
        var index = entries.count
        while index > 0, entries[index - 1].timestamp > entry.timestamp { index -= 1 }
        if index > 0, entries[index - 1].timestamp == entry.timestamp {
            if entry.sequence != nil, entries[index - 1].sequence == nil { entries[index - 1] = entry }
            return
        }
        entries.insert(entry, at: index)
        if entries.count > Self.capacity {
            discardFirst()
            if isPlaying, let first = entries.first { jump(to: first) }
        }
    }

    /// Forgets the stream; the counts go on.
    private mutating func reset() {
        entries.removeAll(keepingCapacity: true)
        estimator = DelayEstimator()
        sequences = SequenceWindow()
        newestTimestamp = nil
        isNewStream = true
        isPlaying = false
        position = nil
        lastSequence = nil
        lastWasSilence = false
        redundancyDepth = 1
        held = 0
        consecutiveLate = 0
        smoothedDelay = nil
        nextStretch = 0
        statistics.resets += 1
    }

    // MARK: Playout

    /// What to play at `now`, after the `buffered` samples that have been decoded and not yet played.
    public mutating func pull(at now: MonotonicTime, buffered: Int = 0) -> Output {
        let time = Self.samples(now) + Int64(buffered)
        statistics.targetDelay = AudioFormat.duration(ofFrames: target)
        guard isPlaying, let next = position else { return begin(time) }
        while let first = entries.first, first.timestamp < next {
            if first.sequence != nil { statistics.late += 1 }
            entries.removeFirst()
        }
        guard let first = entries.first else { return hold() }
        if isTooOld(first, at: time) { return catchUp(time) }
        var gap = first.timestamp - next
        let senderWasSilent = gap > 0 && first.sequence != nil && first.sequence == lastSequence.map { $0 + 1 }
        if held > 0 {
            let covered = min(Int64(held), gap)
            account(held, isComfort: senderWasSilent)
            position = next + covered
            gap -= covered
            smoothedDelay = nil
        }
        if senderWasSilent {
            if gap > 0, delay(of: first, at: time) < target {
                held = Self.unit
                return .conceal(frames: Self.unit, isComfort: true)
            }
        } else if gap >= 120 {
            if let output = fill(gap, before: first, at: time) { return output }
        }
        return playFirst(at: time)
    }

    /// Waits until the first packet is due.
    private mutating func begin(_ time: Int64) -> Output {
        guard let first = entries.first, delay(of: first, at: time) >= target else {
            return .silence(frames: Self.unit)
        }
        if held > 0 { account(min(held, pauseAfter), isComfort: first.sequence == lastSequence.map { $0 + 1 }) }
        isPlaying = true
        smoothedDelay = nil
        if isTooOld(first, at: time) { return catchUp(time) }
        return playFirst(at: time)
    }

    /// Nothing is there: makes something up and keeps the place, so that what comes late is still heard, until it
    /// is clear that the sender pauses.
    private mutating func hold() -> Output {
        held += Self.unit
        let limit = lastWasSilence ? max(pauseAfter, 48_000) : pauseAfter
        guard held <= limit else {
            isPlaying = false
            return .silence(frames: Self.unit)
        }
        return .conceal(frames: Self.unit, isComfort: lastWasSilence)
    }

    /// Fills part of the `gap` that lost packets left before `first`; nil when it is to be skipped.
    private mutating func fill(_ gap: Int64, before first: Entry, at time: Int64) -> Output? {
        if gap > Self.second / 2, delay(of: first, at: time) >= target { return nil }
        let missing = Int(min(gap, Self.second))
        let recoverable = first.outline.hasFEC ? first.outline.framesPerOpusFrame : 0
        if missing <= recoverable, missing >= recoverable / 2 {
            position = first.timestamp
            statistics.recoveredByFEC += 1
            statistics.concealedFrames += missing
            return .recover(from: first.payload, frames: recoverable, keeping: missing)
        }
        let open = missing > recoverable ? missing - recoverable : missing
        let frames = max(120, min(Self.unit, open) / 120 * 120)
        position = position.map { $0 + Int64(frames) }
        statistics.concealedFrames += frames
        return .conceal(frames: frames, isComfort: false)
    }

    /// Drops what is too old after a stall, up to the packet that is due now.
    private mutating func catchUp(_ time: Int64) -> Output {
        while entries.count > 1, let first = entries.first, delay(of: first, at: time) > target { discardFirst() }
        if held > 0 { account(held, isComfort: false) }
        if let first = entries.first { jump(to: first) }
        smoothedDelay = nil
        return playFirst(at: time)
    }

    private mutating func playFirst(at time: Int64) -> Output {
        let first = entries.removeFirst()
        let delay = delay(of: first, at: time)
        var lost = 0
        if let sequence = first.sequence {
            if let lastSequence { lost = Int(max(0, sequence - lastSequence - 1)) }
            lastSequence = sequence
        } else {
            statistics.recoveredByRED += 1
            lastSequence = lastSequence.map { $0 + 1 }
        }
        statistics.lost += lost
        lossRate += ((lost > 0 || first.sequence == nil ? 1 : 0) - lossRate) / 256
        isLossy = lossRate > (isLossy ? 0.004 : 0.01)
        lastFrames = first.outline.frames
        lastWasSilence = first.outline.isDTX
        position = first.timestamp + Int64(first.outline.frames)
        statistics.playedFrames += first.outline.frames
        let newStream = isNewStream
        isNewStream = false
        let stretch = decideStretch(delay, at: first.timestamp)
        return .play(first.payload, frames: first.outline.frames, isNewStream: newStream, stretch: stretch)
    }

    /// Says by how many samples the sound of the last packet was in fact stretched (positive) or shortened.
    public mutating func didStretch(by frames: Int) {
        if frames < 0 { statistics.removedFrames -= frames } else { statistics.insertedFrames += frames }
        smoothedDelay = smoothedDelay.map { $0 + Double(frames) }
    }

    private mutating func decideStretch(_ delay: Int, at timestamp: Int64) -> Stretch {
        let smoothed = smoothedDelay.map { $0 + (Double(delay) - $0) / 16 } ?? Double(delay)
        smoothedDelay = smoothed
        statistics.currentDelay = AudioFormat.duration(ofFrames: max(0, Int(smoothed)))
        let excess = Int(smoothed) - target
        guard abs(excess) > Self.unit, timestamp >= nextStretch else { return .none }
        // Little by little, so that it is not heard; without rest when far off.
        nextStretch = timestamp + (abs(excess) > 60 * 48 ? 0 : Self.second / 10)
        return excess > 0 ? .shorten : .lengthen
    }

    // MARK: Small parts

    /// How long after its earliest possible arrival the packet would be heard when played at `time`.
    private func delay(of entry: Entry, at time: Int64) -> Int {
        Int(clamping: time - (estimator.base ?? 0) - entry.timestamp)
    }

    private func isTooOld(_ entry: Entry, at time: Int64) -> Bool {
        delay(of: entry, at: time) > maximumDelay + 200 * 48
    }

    private mutating func account(_ frames: Int, isComfort: Bool) {
        if isComfort { statistics.comfortFrames += frames } else { statistics.concealedFrames += frames }
        held = 0
    }

    private mutating func discardFirst() {
        let first = entries.removeFirst()
        statistics.discarded += 1
        if let sequence = first.sequence { lastSequence = max(sequence, lastSequence ?? sequence) }
    }

    private mutating func jump(to entry: Entry) {
        position = entry.timestamp
        if let sequence = entry.sequence { lastSequence = sequence - 1 }
    }

    /// The timestamp in 64 bits, nearest to the newest.
    private func extend(_ timestamp: UInt32) -> Int64 {
        guard let newestTimestamp else { return 1 << 32 | Int64(timestamp) }
        let step = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: newestTimestamp))
        return newestTimestamp + Int64(step)
    }

    private static func samples(_ time: MonotonicTime) -> Int64 {
        time.nanoseconds / 1_000 * 6 / 125
    }
}
