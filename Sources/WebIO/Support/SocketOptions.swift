import CGLib
import Glibc

/// Sends small messages at once instead of letting them wait for one another (`TCP_NODELAY`): signaling is small.
func sendWithoutDelay(_ socket: UnsafeMutablePointer<GSocket>?) {
    guard let socket else { return }
    g_socket_set_option(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1, nil)
}
