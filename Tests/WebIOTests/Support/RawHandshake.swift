import Foundation

@testable import WebIO

/// Answers a client's WebSocket upgrade.
/// - Parameter bytes: sent in the same segment as the answer.
func accept(_ connection: RawConnection, with bytes: [UInt8] = []) {
    guard let head = connection.receiveHead(),
        let line = head.components(separatedBy: "\r\n").first(where: { $0.lowercased().hasPrefix("sec-websocket-key:") }
        )
    else { return }
    let key = line.dropFirst("sec-websocket-key:".count).trimmingCharacters(in: .whitespaces)
    let text =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(WebSocketHandshake.accept(key: key))\r\n\r\n"
    connection.send(Array(text.utf8) + bytes)
}
