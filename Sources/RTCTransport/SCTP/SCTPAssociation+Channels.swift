import LoopCore

/// Data channels: DCEP (RFC 8832), messages, back-pressure, closing.
extension SCTPAssociation {
    /// How long the peer may take to close a channel that this end closes.
    static let resetTimeout = Duration.seconds(10)

    // MARK: Opening

    /// Makes a channel, which opens once the association is up. ``DataChannel/onClose`` is called soon when that is
    /// not possible: the id is in use, or none is free.
    /// - Parameter negotiatedID: the stream that both ends agreed on elsewhere; otherwise the peer is told with DCEP.
    func createDataChannel(
        label: String, protocol: String = "", ordered: Bool = true, maxRetransmits: UInt16? = nil,
        maxPacketLifetime: UInt16? = nil, negotiatedID: UInt16? = nil
    ) -> DataChannel {
        let channel = DataChannel(
            DCEPMessage.Open(
                label: label, protocol: `protocol`, ordered: ordered, maxRetransmits: maxRetransmits,
                maxPacketLifetime: maxRetransmits == nil ? maxPacketLifetime : nil), negotiatedID: negotiatedID)
        channel.association = self
        switch state {
        case .failed, .closed:
            closeLater(channel)
            return channel
        case .new, .connecting, .connected:
            break
        }
        if let id = negotiatedID {
            guard channels[id] == nil, id < outboundStreams else {
                closeLater(channel)
                return channel
            }
            channels[id] = channel
        } else if role == nil {
            unnumbered.append(channel)
            return channel
        } else if !number(channel) {
            closeLater(channel)
            return channel
        }
        if state == .connected {
            later { [weak self, weak channel] in
                guard let self, let channel else { return }
                open(channel)
                sendPackets()
            }
        }
        return channel
    }

    func numberChannels() {
        let waiting = unnumbered
        unnumbered = []
        for channel in waiting where !number(channel) { closeLater(channel) }
    }

    private func number(_ channel: DataChannel) -> Bool {
        let first: UInt16 = role == .client ? 0 : 1
        guard let id = stride(from: first, to: outboundStreams, by: 2).first(where: { channels[$0] == nil })
        else { return false }
        channel.id = id
        channels[id] = channel
        return true
    }

    /// The association came up.
    func openChannels() {
        for (_, channel) in channels.sorted(by: { $0.key < $1.key }) { open(channel) }
    }

    private func open(_ channel: DataChannel) {
        guard state == .connected, channel.readyState == .connecting, let id = channel.id else { return }
        guard id < outboundStreams else {
            channels[id] = nil
            return finish(channel)
        }
        if !channel.isNegotiated { sendControl(.open(channel.parameters), stream: id) }
        channel.readyState = .open
        channel.onOpen?()
        for message in early.take(stream: id) { deliver(message, to: channel) }
    }

    // MARK: Receiving

    func handle(_ message: SCTPReassembler.Message) {
        if message.ppid == DataChannelPPID.dcep {
            guard let control = DCEPMessage(message.bytes) else { return }
            switch control {
            case .open(let parameters): peerOpened(parameters, stream: message.stream)
            case .acknowledge: channels[message.stream]?.isAcknowledged = true
            }
        } else if let channel = channels[message.stream], channel.readyState != .connecting {
            deliver(message, to: channel)
        } else if message.stream < configuration.streams {
            early.add(message)
        }
    }

    private func peerOpened(_ parameters: DCEPMessage.Open, stream: UInt16) {
        guard channels[stream] == nil, stream < outboundStreams else { return }
        let channel = DataChannel(parameters)
        channel.id = stream
        channel.association = self
        channel.isAcknowledged = true
        channel.readyState = .open
        channels[stream] = channel
        sendControl(.acknowledge, stream: stream)
        onDataChannel?(channel)
        channel.onOpen?()
        for message in early.take(stream: stream) { deliver(message, to: channel) }
    }

    private func deliver(_ message: SCTPReassembler.Message, to channel: DataChannel) {
        // The peer may still send while its reset is under way; W3C delivers that, but not after `close()` here.
        guard channel.readyState == .open else { return }
        // Whatever arrives after the opening shows that the peer knows the channel.
        channel.isAcknowledged = true
        switch message.ppid {
        case DataChannelPPID.string: channel.onMessage?(message.bytes, false)
        case DataChannelPPID.binary: channel.onMessage?(message.bytes, true)
        case DataChannelPPID.emptyString: channel.onMessage?([], false)
        case DataChannelPPID.emptyBinary: channel.onMessage?([], true)
        default: break
        }
    }

    // MARK: Sending

    /// The largest message that the peer and this end's buffer take, in bytes (RFC 8841, section 6).
    var maxMessageSize: Int {
        let remote = configuration.remoteMaxMessageSize
        return remote == 0 ? Self.maxSendSize : min(remote, Self.maxSendSize)
    }

    func send(_ bytes: [UInt8], ppid: UInt32, on channel: DataChannel) throws(DataChannelError) {
        guard state == .connected, let id = channel.id else {
            throw .notOpen(label: channel.label, state: channel.readyState)
        }
        let limit = maxMessageSize
        guard bytes.count <= limit else {
            throw .messageTooLarge(label: channel.label, size: bytes.count, limit: limit)
        }
        guard queue.size + bytes.count <= Self.maxBuffered else {
            throw .bufferFull(label: channel.label, limit: Self.maxBuffered)
        }
        let message = SCTPSocket.Outgoing(
            stream: id, ppid: ppid, bytes: bytes, ordered: channel.ordered || !channel.isAcknowledged,
            maxRetransmits: channel.maxRetransmits, maxPacketLifetime: channel.maxPacketLifetime)
        submit(SCTPSendQueue.Entry(message: message, channel: channel))
        sendPackets()
    }

    private func sendControl(_ control: DCEPMessage, stream: UInt16) {
        submit(
            SCTPSendQueue.Entry(
                message: SCTPSocket.Outgoing(
                    stream: stream, ppid: DataChannelPPID.dcep, bytes: control.bytes, ordered: true), channel: nil))
    }

    private func submit(_ entry: SCTPSendQueue.Entry) {
        stayBusy()
        if queue.isEmpty, socket?.send(entry.message) != .wouldBlock { return }
        queue.append(entry)
        entry.channel?.bufferedAmount += entry.message.bytes.count
    }

    /// Hands waiting messages to SCTP as long as it takes them.
    /// - Returns: whether it took any.
    func flushQueue() -> Bool {
        var hasSent = false
        while let entry = queue.first, let socket {
            if socket.send(entry.message) == .wouldBlock { break }
            hasSent = true
            queue.removeFirst()
            guard let channel = entry.channel else { continue }
            let before = channel.bufferedAmount
            channel.bufferedAmount -= entry.message.bytes.count
            let threshold = channel.bufferedAmountLowThreshold
            if before > threshold, channel.bufferedAmount <= threshold { channel.onBufferedAmountLow?() }
        }
        if hasSent { requestResets() }
        return hasSent
    }

    // MARK: Closing

    func close(_ channel: DataChannel) {
        switch channel.readyState {
        case .closing, .closed: return
        case .connecting: closeLater(channel)
        case .open:
            channel.readyState = .closing
            reset(channel)
        }
    }

    private func reset(_ channel: DataChannel) {
        guard let id = channel.id, !channel.reset.isRequested else { return }
        channel.reset.isRequested = true
        channel.reset.deadline = .now + Self.resetTimeout
        resets.insert(id)
        requestResets()
        sendPackets()
    }

    /// Asks SCTP to reset the streams that are to be closed and have nothing waiting. It takes one request at a time.
    func requestResets() {
        let ready = resets.filter { !queue.contains(stream: $0) }
        guard !ready.isEmpty, let socket, socket.resetOutgoing(ready.sorted()) else { return }
        resets.subtract(ready)
    }

    func outgoingReset(_ stream: UInt16) {
        guard let channel = channels[stream] else { return }
        channel.reset.isOutgoingDone = true
        finishIfReset(channel)
    }

    func incomingReset(_ stream: UInt16) {
        _ = early.take(stream: stream)
        guard let channel = channels[stream] else { return }
        channel.reset.isIncomingDone = true
        if channel.readyState == .open { channel.readyState = .closing }
        reset(channel)
        finishIfReset(channel)
    }

    private func finishIfReset(_ channel: DataChannel) {
        guard channel.reset.isOutgoingDone, channel.reset.isIncomingDone, let id = channel.id else { return }
        channels[id] = nil
        finish(channel)
    }

    /// Closes the channels whose reset the peer does not answer, or does not understand.
    func finishOverdue() {
        let now = MonotonicTime.now
        for (id, channel) in channels where channel.reset.deadline.map({ $0 < now }) ?? false {
            resets.remove(id)
            channels[id] = nil
            finish(channel)
        }
    }

    private func closeLater(_ channel: DataChannel) {
        channel.readyState = .closing
        unnumbered.removeAll { $0 === channel }
        if let id = channel.id, channels[id] === channel { channels[id] = nil }
        later { [weak self] in self?.finish(channel) }
    }

    func finish(_ channel: DataChannel) {
        guard channel.readyState != .closed else { return }
        let onClose = channel.onClose
        channel.retire()
        onClose?()
    }
}
