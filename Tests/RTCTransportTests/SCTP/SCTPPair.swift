import LoopCore

@testable import RTCTransport

/// Two SCTP associations on one loop, joined by pipes.
actor SCTPPair {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    struct Received: Sendable, Equatable {
        var label: String
        var bytes: [UInt8]
        var isBinary: Bool
    }

    private(set) var states: [[SCTPState]] = [[], []]
    private(set) var received: [[Received]] = [[], []]
    private(set) var log: [[String]] = [[], []]
    private(set) var peakBuffered = 0
    private(set) var lowCalls = 0
    private(set) var largestPacket = 0
    private(set) var sawNestedCallback = false
    private var ends: [SCTPAssociation] = []
    private var channels: [[String: DataChannel]] = [[:], [:]]
    private var pipes: [Pipe] = []
    private var isCalling = false
    private var poured = 0

    init(loop: EventLoop) { self.loop = loop }

    func make(
        _ configuration: SCTPAssociation.Configuration = .init(), impair: @Sendable (Pipe) -> Void = { _ in },
        seed: UInt64 = 1
    ) {
        pipes = [Pipe(loop: loop, seed: seed), Pipe(loop: loop, seed: seed &+ 100)]
        ends = (0..<2).map { _ in SCTPAssociation(loop: loop, configuration: configuration) }
        for index in 0..<2 {
            impair(pipes[index])
            let end = ends[index]
            let pipe = pipes[index]
            end.onSend = { [self] packet in
                largestPacket = max(largestPacket, packet.count)
                pipe.send(packet)
            }
            end.onStateChanged = { [self] state in
                noteCall()
                states[index].append(state)
            }
            end.onDataChannel = { [self] channel in
                noteCall()
                log[index].append("offered \(channel.label)")
                attach(channel, index)
            }
            pipes[1 - index].onDeliver = { end.receive($0) }
        }
    }

    private func noteCall() {
        if isCalling { sawNestedCallback = true }
    }

    private func attach(_ channel: DataChannel, _ index: Int) {
        let label = channel.label
        channels[index][label] = channel
        channel.onOpen = { [self] in
            noteCall()
            log[index].append("open \(label)")
        }
        channel.onClose = { [self] in
            noteCall()
            log[index].append("close \(label)")
        }
        channel.onMessage = { [self] bytes, isBinary in
            noteCall()
            received[index].append(Received(label: label, bytes: bytes, isBinary: isBinary))
        }
    }

    func start() {
        isCalling = true
        ends[0].start(role: .client)
        ends[1].start(role: .server)
        isCalling = false
    }

    func open(
        _ label: String, on index: Int, ordered: Bool = true, maxRetransmits: UInt16? = nil, negotiatedID: UInt16? = nil
    ) {
        isCalling = true
        let channel = ends[index].createDataChannel(
            label: label, ordered: ordered, maxRetransmits: maxRetransmits, negotiatedID: negotiatedID)
        attach(channel, index)
        isCalling = false
    }

    func send(_ bytes: [UInt8], on label: String, from index: Int) throws(DataChannelError) {
        isCalling = true
        defer { isCalling = false }
        try channels[index][label]?.send(binary: bytes)
    }

    func send(text: String, on label: String, from index: Int) throws(DataChannelError) {
        try channels[index][label]?.send(text: text)
    }

    /// Sends messages of 16 KiB one after the other, never with more than `limit` bytes waiting.
    func pour(_ count: Int, on label: String, from index: Int, limit: Int) {
        guard let channel = channels[index][label] else { return }
        channel.bufferedAmountLowThreshold = limit / 2
        channel.onBufferedAmountLow = { [self] in
            lowCalls += 1
            fill(channel, to: limit, count: count)
        }
        fill(channel, to: limit, count: count)
    }

    private func fill(_ channel: DataChannel, to limit: Int, count: Int) {
        while poured < count, channel.bufferedAmount < limit {
            try? channel.send(binary: [UInt8](repeating: UInt8(poured & 0xff), count: 16_384))
            poured += 1
            peakBuffered = max(peakBuffered, channel.bufferedAmount)
        }
    }

    /// - Returns: the channel's state right after the call.
    @discardableResult
    func close(channel label: String, on index: Int) -> DataChannel.State? {
        isCalling = true
        defer { isCalling = false }
        channels[index][label]?.close()
        return channels[index][label]?.readyState
    }

    func closeOnMessage(_ label: String, on index: Int) {
        let end = ends[index]
        channels[index][label]?.onMessage = { _, _ in end.close() }
    }

    func inject(_ bytes: [UInt8], to index: Int) { ends[index].receive(bytes) }
    func close(_ index: Int) { ends[index].close() }
    func state(_ index: Int) -> SCTPState { ends[index].state }
    func readyState(_ label: String, on index: Int) -> DataChannel.State? { channels[index][label]?.readyState }
    func id(_ label: String, on index: Int) -> UInt16? { channels[index][label]?.id }
    func isLossy(_ label: String, on index: Int) -> Bool {
        channels[index][label]?.ordered == false && channels[index][label]?.maxRetransmits == 0
    }
    func impair(_ body: @Sendable (Pipe) -> Void) { pipes.forEach(body) }
    var bothConnected: Bool { ends.allSatisfy { $0.state == .connected } }
    func isOpen(_ labels: String...) -> Bool {
        labels.allSatisfy { label in channels.allSatisfy { $0[label]?.readyState == .open } }
    }

    func end() {
        for end in ends { end.close() }
        ends = []
        channels = [[:], [:]]
    }
}
