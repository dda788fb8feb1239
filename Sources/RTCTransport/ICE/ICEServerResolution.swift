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
        /// To be kept as long as the server is used.
        var tunnel: TURNTLSTunnel?
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
    private let authoritiesFile: String?
    private var entries: [Entry] = []
    private var resolvers: [HostResolver] = []
    private var unanswered = 0
    private var timer: LoopTimer?
    private var completion: (([Server]) -> Void)?

    init(loop: EventLoop, configuration: ICEConfiguration) {
        self.loop = loop
        timeout = configuration.resolveTimeout
        authoritiesFile = configuration.turnAuthoritiesFile
        for server in configuration.servers {
            for text in server.urls.prefix(Self.maxServers) where entries.count < Self.maxServers {
                guard let url = ICEServerURL(text) else { continue }
                entries.append(Entry(url: url, username: server.username, credential: server.credential))
            }
        }
    }

    /// - Parameter completion: called once, never within this call, with the servers that resolved in time.
    func start(completion: @escaping ([Server]) -> Void) {
        self.completion = completion
        for index in entries.indices {
            let host = entries[index].url.host
            // Tunnels resolve the name themselves, which they check against the certificate.
            if entries[index].url.transport == .tls { continue }
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
        completion?(entries.flatMap(servers))
    }

    /// One server per address family, as each reaches a candidate of its family only.
    private func servers(of entry: Entry) -> [Server] {
        if entry.url.transport == .tls { return tunnelled(entry) }

        let v4 = entry.addresses.first(where: IPAddress.isIPv4)
        let v6 = entry.addresses.first(where: IPAddress.isIPv6)
        return [v4, v6].compactMap { $0 }.map { address in
            Server(
                scheme: entry.url.scheme, address: address, port: entry.url.port,
                overTCP: entry.url.transport != .udp, username: entry.username, credential: entry.credential)
        }
    }

    private func tunnelled(_ entry: Entry) -> [Server] {
        let tunnel = TURNTLSTunnel(host: entry.url.host, port: entry.url.port, authoritiesFile: authoritiesFile)
        guard let tunnel else { return [] }
        return [
            Server(
                scheme: .turn, address: "127.0.0.1", port: tunnel.port, overTCP: true, username: entry.username,
                credential: entry.credential, tunnel: tunnel)
        ]
    }
}
