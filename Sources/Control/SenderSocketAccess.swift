import Processor

/// Runs operations on the sockets of senders, at paths that the senders chose.
///
/// A path in the folder `clients` is on the control socket's own file system; its operation runs directly. Any other
/// path may be on a disk that hangs; its operation runs on a `DiskThread`.
///
/// Thread: control thread.
struct SenderSocketAccess {
  private let clients: [UInt8]
  private let disk = DiskThread("pinna senders")

  /// - Parameter clients: path of the folder for client sockets.
  init(clients: String) { self.clients = Array(clients.utf8) }

  /// Runs `body`, which operates on the socket at `path`. Waits 50 ms at most.
  func perform<Value: Sendable>(at path: String, _ body: @escaping @Sendable () -> Value)
    -> DiskThread.Outcome<Value>
  {
    if isInClients(path) { return .done(body()) }
    return (try? disk.perform(body)) ?? .busy
  }

  private func isInClients(_ path: String) -> Bool {
    let path = Array(path.utf8)
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return false }
    return path[..<slash] == clients[...]
  }
}
