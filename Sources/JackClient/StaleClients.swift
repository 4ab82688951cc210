import Foundation
import Threads

/// A defence against a race in libjack 1.9.21 that stops the whole graph for good.
///
/// While `jack_client_open` runs, the server already tells the new client of others that leave, but libjack drops that news
/// until it has mapped the client's control block (`ClientNotifyImp` compares names only where there is one). The process
/// then keeps the semaphore of the client that left. The next client that is given the same number is never woken by this
/// process, and the graph waits for it. It happens when a server has just started and other programs probe it.
package enum StaleClients {
  /// A server that does not answer must not hold up the thread that joins it.
  private static let patience = Duration.milliseconds(250)

  /// Where this process keeps the semaphore of a client that left, another process joins and leaves. It is given the
  /// lowest free number, which is the one of the client that left last; its leaving makes libjack drop what it kept under
  /// that number.
  ///
  /// Thread: one that may wait for the server; it waits for 750 ms at most. Call it after a request that the server has
  /// answered: before, the server may not have removed the file of a client that left.
  /// - Parameter server: nil for the default one.
  static func forget(server: String?) {
    for _ in 0..<3 where hasAny() { sweep(server) }
  }

  /// Whether this process maps a semaphore whose file the server has removed.
  package static func hasAny() -> Bool {
    // Not `String(contentsOfFile:)`: of files in /proc, whose size is 0, it reads 4 kB.
    let maps = try? FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd()
    return String(decoding: maps ?? Data(), as: UTF8.self).split(separator: "\n")
      .contains { $0.contains("/jack_sem.") && $0.hasSuffix(" (deleted)") }
  }

  private static func sweep(_ server: String?) {
    let isDone = Latch()
    let sweep: @Sendable () -> Void = {
      _ = LabelWriter.isLetIn(server: server)
      isDone.open()
    }
    guard (try? BackgroundThread.start("pinna sweep", sweep)) != nil else { return }
    _ = isDone.wait(for: patience)
  }
}
