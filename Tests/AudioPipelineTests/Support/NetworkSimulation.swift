import LoopCore

@testable import AudioPipeline

/// A sender, a network and a receiver in simulated time; the same seed gives the same run.
struct NetworkSimulation {
    var seed: UInt64 = 1
    var seconds = 20.0
    /// Probability of losing a packet, and how many follow it.
    var loss = 0.0
    var burst = 1
    /// Each packet is delayed by 0 to that many ms, which also reorders.
    var jitter = 0.0
    /// Packets may overtake each other; otherwise a late one holds up the ones after it.
    var reorders = true
    var duplicates = 0.0
    /// The sender's clock runs fast by so much (parts per million).
    var driftPPM = 0.0
    var firstSequence: UInt16 = 100
    var firstTimestamp: UInt32 = 1_000
    /// Redundant copies of so many earlier frames in each packet.
    var redundancy = 0
    /// Samples in a packet.
    var packetFrames = 960
    /// Samples that the receiver pulls at a time.
    var pullFrames = 480
    /// Seconds of the sender at which nothing gets through, and then everything at once.
    var stall: ClosedRange<Double>?
    /// From that second on everything takes so many ms longer.
    var step: (at: Double, milliseconds: Double)?
    /// Seconds of the sender in which it sends nothing (its timestamps go on).
    var pauses: [ClosedRange<Double>] = []

    struct Arrival {
        var frame: JitterBuffer.Frame
        var index: Int
    }

    /// Every packet that gets through, in order of arrival. The payload of packet `n` is `payload(n)`.
    func arrivals(payload: (Int) -> [UInt8]) -> [Arrival] {
        var generator = SeededGenerator(seed: seed)
        var result: [Arrival] = []
        var losing = 0
        var latest: Int64 = 0
        let count = Int(seconds * 48_000) / packetFrames
        var sequence = firstSequence
        var sent: [Int] = []
        for index in 0..<count {
            let mediaTime = Double(index * packetFrames) / 48_000
            if pauses.contains(where: { $0.contains(mediaTime) }) { continue }
            defer {
                sequence &+= 1
                sent.append(index)
            }
            if losing == 0, Double.random(in: 0..<1, using: &generator) < loss { losing = burst }
            if losing > 0 {
                losing -= 1
                continue
            }
            var time = mediaTime * (1 - driftPPM / 1e6) + 0.005
            if jitter > 0 { time += Double.random(in: 0...jitter, using: &generator) / 1_000 }
            if let step, mediaTime >= step.at { time += step.milliseconds / 1_000 }
            if let stall, stall.contains(time) { time = stall.upperBound }
            var arrival = Int64(time * 1e9) + 1_000_000_000_000
            if !reorders {
                arrival = max(arrival, latest)
                latest = arrival
            }
            let timestamp = firstTimestamp &+ UInt32(truncatingIfNeeded: index * packetFrames)
            for back in sent.suffix(redundancy) {
                result.append(
                    Arrival(
                        frame: JitterBuffer.Frame(
                            payload: payload(back),
                            timestamp: firstTimestamp &+ UInt32(truncatingIfNeeded: back * packetFrames),
                            sequenceNumber: sequence, isRedundant: true,
                            arrival: MonotonicTime(nanoseconds: arrival)), index: back))
            }
            let frame = JitterBuffer.Frame(
                payload: payload(index), timestamp: timestamp, sequenceNumber: sequence,
                arrival: MonotonicTime(nanoseconds: arrival))
            result.append(Arrival(frame: frame, index: index))
            if duplicates > 0, Double.random(in: 0..<1, using: &generator) < duplicates {
                var copy = frame
                copy.arrival = MonotonicTime(nanoseconds: arrival + Int64.random(in: 0...40_000_000, using: &generator))
                result.append(Arrival(frame: copy, index: index))
            }
        }
        // Stable, so that the copies in one packet stay in front of it.
        return result.enumerated().sorted {
            ($0.element.frame.arrival, $0.offset) < ($1.element.frame.arrival, $1.offset)
        }.map(\.element)
    }

    /// Calls `insert` and `pull` in the order of time.
    func run(
        payload: (Int) -> [UInt8], insert: (JitterBuffer.Frame) -> Void, pull: (MonotonicTime) -> Void
    ) {
        var next = arrivals(payload: payload)[...]
        let step = Int64(pullFrames) * 1_000_000_000 / 48_000
        var now: Int64 = 1_000_000_000_000 + 1_234_567
        while now < 1_000_000_000_000 + Int64(seconds * 1e9) {
            while let first = next.first, first.frame.arrival.nanoseconds <= now {
                insert(first.frame)
                next.removeFirst()
            }
            pull(MonotonicTime(nanoseconds: now))
            now += step
        }
    }
}

/// Runs the simulation through a jitter buffer alone and writes down what it plays. Payloads carry their index.
struct PlayoutLog {
    /// Indices of the packets played, in order.
    var played: [Int] = []
    /// Delay of each, from sending to sound, in ms.
    var delays: [Double] = []
    var recovered = 0
    var concealed = 0
    var comfort = 0
    var silence = 0
    var newStreams = 0
    var statistics = PlayoutStatistics()

    /// A CELT packet (no FEC of its own) of 20 ms that carries `index`.
    static func payload(_ index: Int) -> [UInt8] {
        [31 << 3, UInt8(index >> 16 & 255), UInt8(index >> 8 & 255), UInt8(index & 255), 0]
    }

    static func index(_ payload: [UInt8]) -> Int {
        Int(payload[1]) << 16 | Int(payload[2]) << 8 | Int(payload[3])
    }

    init(_ simulation: NetworkSimulation, configuration: JitterBuffer.Configuration = .init()) {
        var buffer = JitterBuffer(configuration: configuration)
        var queued = 0
        var log = self
        simulation.run(payload: PlayoutLog.payload) {
            buffer.insert($0)
        } pull: { now in
            while queued < simulation.pullFrames {
                let elapsed = Double(now.nanoseconds - 1_000_000_000_000) / 1e6 + Double(queued) / 48
                switch buffer.pull(at: now, buffered: queued) {
                case .silence(let frames):
                    log.silence += frames
                    queued += frames
                case .conceal(let frames, let isComfort):
                    if isComfort { log.comfort += frames } else { log.concealed += frames }
                    queued += frames
                case .recover(_, _, let keeping):
                    log.recovered += 1
                    queued += keeping
                case .play(let payload, let frames, let isNewStream, let stretch):
                    let index = PlayoutLog.index(payload)
                    log.played.append(index)
                    log.delays.append(elapsed - Double(index * simulation.packetFrames) / 48)
                    if isNewStream { log.newStreams += 1 }
                    let change = stretch == .shorten ? -240 : stretch == .lengthen ? 240 : 0
                    if change != 0 { buffer.didStretch(by: change) }
                    queued += frames + change
                }
            }
            queued -= simulation.pullFrames
        }
        log.statistics = buffer.statistics
        self = log
    }

    private init() {}

    /// Nothing twice, everything in order.
    var isInOrder: Bool { zip(played, played.dropFirst()).allSatisfy { $0 < $1 } }
}
