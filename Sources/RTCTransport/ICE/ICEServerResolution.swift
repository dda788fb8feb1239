import LoopCore

/// Turns the URLs of the configured servers into addresses, for at most a given time. Confined to the loop.
final class ICEServerResolution {
    /// More servers than this are left out.
    static let maxServers = 8

    /// A server at a numeric address.
    struct Server {
        var scheme: ICEServerURL.Scheme
        var address: String
        var port: UInt16
        var overTCP: Bool
        var username: String
        var credential: String
    }

    private(set) var isComplete = false

    private struct Entry {
        var url: ICEServerURL
        var username: String
        var credential: String
        var addresses: [String] = []
    }

    private let loop: EventLoop
    private let timeout: Duration
    private var entries: [Entry] = []
    private var resolvers: [HostResolver] = []
    private var unanswered = 0
    private var timer: LoopTimer?
    private var completion: (([Server]) -> Void)?

    init(loop: EventLoop, servers: [ICEServer], timeout: Duration) {
        self.loop = loop
        self.timeout = timeout
        for server in servers {
            for text in server.urls.prefix(Self.maxServers) where entries.count < Self.maxServers {
                // libnice speaks no TLS to TURN servers.
                guard let url = ICEServerURL(text), url.transport != .tls else { continue }
                entries.append(Entry(url: url, username: server.username, credential: server.credential))
            }
        }
    }

    /// - Parameter completion: called once, never within this call, with the servers that resolved in time.
    func start(completion: @escaping ([Server]) -> Void) {
        self.completion = completion
        for index in entries.indices {
            let host = entries[index].url.host
            if IPAddress.isIPv4(host) || IPAddress.isIPv6(host) {
                entries[index].addresses = [host]
                continue
            }
            unanswered += 1
            resolvers.append(
                HostResolver(host: host) { [weak self] addresses in
                    guard let self else { return }
                    entries[index].addresses = addresses
                    unanswered -= 1
                    if unanswered == 0 { finish() }
                })
        }
        timer = loop.schedule(after: unanswered == 0 ? .zero : timeout) { [weak self] in self?.finish() }
    }

    private func finish() {
        guard !isComplete else { return }
        isComplete = true
        timer = nil
        resolvers = []
        let completion = completion
        self.completion = nil
        completion?(entries.flatMap(Self.servers))
    }

    /// One server per address family, as each reaches a candidate of its family only.
    private static func servers(of entry: Entry) -> [Server] {
        let v4 = entry.addresses.first(where: IPAddress.isIPv4)
        let v6 = entry.addresses.first(where: IPAddress.isIPv6)
        return [v4, v6].compactMap { $0 }.map { address in
            Server(
                scheme: entry.url.scheme, address: address, port: entry.url.port,
                overTCP: entry.url.transport != .udp, username: entry.username, credential: entry.credential)
        }
    }
}
