import Threads

/// A workaround for a race in libjack 1.9.21 that blocks the whole graph permanently.
///
/// While `jack_client_open` runs, the server already notifies the new client when others leave. libjack drops these
/// notifications until it has mapped the client's control block (`ClientNotifyImp` compares names only if there is
/// one). The process then keeps the semaphore of the client that left. It never wakes the next client with the same
/// number, and the graph waits for that client. This happens if other programs probe a server that has just started.
package enum StaleClients {
  /// Limit per attempt: a server that does not answer must not block the thread that joins it.
  private static let patience = Duration.milliseconds(250)

  /// Makes libjack drop the semaphores of clients that have left. While this process maps such a semaphore, a helper
  /// process joins the server and leaves again. It gets the lowest free number, which is that of the client that left
  /// last; when it leaves, libjack releases the semaphore with that number.
  ///
  /// Thread: any that may wait for the server, here for 750 ms at most. Call it after a request that the server has
  /// answered: before that, the server may not have removed the semaphore's file.
  /// - Parameter server: nil for the default one.
  package static func flush(server: String?) {
    for _ in 0..<3 where hasAny() { sweep(server) }
  }

  /// Whether this process maps a semaphore whose file the server has removed. Any thread.
  package static func hasAny() -> Bool {
    (SmallFile.text("/proc/self/maps") ?? "").split(separator: "\n")
      .contains { $0.contains("/jack_sem.") && $0.hasSuffix(" (deleted)") }
  }

  /// Waits for `patience` at most.
  private static func sweep(_ server: String?) {
    let isDone = Latch()
    let sweep: @Sendable () -> Void = {
      _ = ServerProbe.acceptsClients(server: server)
      isDone.open()
    }
    guard (try? BackgroundThread.start("pinna sweep", sweep)) != nil else { return }
    _ = isDone.wait(for: patience)
  }
}
