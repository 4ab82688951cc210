/// Reaches the sockets of those who ask, at paths that they chose.
///
/// A path in the folder `clients` is on the control socket's own file system, and is reached directly. Any other may be on
/// a disk that hangs.
///
/// Threads: the control thread.
struct SenderReach {
  private let clients: [UInt8]
  private let disk = DiskThread("pinna senders")

  /// - Parameter clients: the folder.
  init(clients: String) { self.clients = Array(clients.utf8) }

  func reach<Value: Sendable>(_ path: String, _ body: @escaping @Sendable () -> Value)
    -> DiskThread.Outcome<Value>
  {
    if isInClients(path) { return .done(body()) }
    return (try? disk.ask(body)) ?? .busy
  }

  private func isInClients(_ path: String) -> Bool {
    let path = Array(path.utf8)
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return false }
    return path[..<slash] == clients[...]
  }
}
