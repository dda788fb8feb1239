import CGLib
import CSoup
public import LoopCore

/// An HTTP/1.1 and HTTP/2 client (libsoup), confined to the loop. Proxies come from the environment (`http_proxy`,
/// `https_proxy`, `no_proxy`); none is used for this machine's own addresses.
public final class HTTPClient {
    private let loop: EventLoop
    private let options: WebOptions
    /// One session for hosts that may need a proxy, one for this machine; made when first needed.
    private var sessions: [Bool: UnsafeMutablePointer<SoupSession>] = [:]

    public init(loop: EventLoop, options: WebOptions = .init()) {
        self.loop = loop
        self.options = options
    }

    deinit {
        let sessions = Array(sessions.values)
        guard !sessions.isEmpty else { return }
        releaseOnLoop(loop) {
            // Calls in flight hold a reference of their own.
            for session in sessions { g_object_unref(session) }
        }
    }

    /// Sends `request` and calls `completion` once, on the loop, never from inside this call. Redirects are not
    /// followed: a 3xx answer is an answer.
    /// - Parameter timeout: the limit for the whole exchange.
    @discardableResult
    public func send(
        _ request: HTTPRequest, timeout: Duration, completion: @escaping (Result<HTTPResponse, WebError>) -> Void
    ) -> HTTPCall {
        let call = HTTPCall(loop: loop, options: options, completion: completion)
        do throws(WebError) {
            let url = try WebURL(request.url)
            if let problem = request.headers.invalidField { throw .other(problem) }
            call.start(request, url: url, session: try session(direct: url.isLoopback), timeout: timeout)
        } catch {
            call.fail(later: error)
        }
        return call
    }

    private func session(direct: Bool) throws(WebError) -> UnsafeMutablePointer<SoupSession> {
        if let session = sessions[direct] { return session }
        loop.checkIsolated()
        // libsoup's limit of 2 connections to a host is a browser's; many sessions of one process may start at once.
        let limits: [(name: StaticString, value: Int32)] = [("max-conns", 128), ("max-conns-per-host", 64)]
        guard let object = makeObject(soup_session_get_type(), limits) else {
            throw .other("the HTTP library cannot be used")
        }
        let session = object.assumingMemoryBound(to: SoupSession.self)
        soup_session_set_user_agent(session, options.userAgent)
        if direct { soup_session_set_proxy_resolver(session, nil) }
        if let caFile = options.caFile {
            do throws(WebError) {
                let database = try TLSTrust.database(caFile: caFile)
                soup_session_set_tls_database(session, database)
                g_object_unref(database)
            } catch {
                g_object_unref(session)
                throw error
            }
        }
        sessions[direct] = session
        return session
    }
}
