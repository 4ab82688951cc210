import Foundation
import Messages
import Processor

/// Removes the sockets of clients that were killed. A client that exits normally removes its own socket.
///
/// Each pass, once a second, checks up to `batch` directory entries and continues where the previous one stopped.
///
/// Thread: control thread.
struct ClientSocketCleaner: ~Copyable {
  static let batch = 256

  let folder: String
  private var listing: OpaquePointer?
  private var next = ContinuousClock.now

  init(folder: String) { self.folder = folder }

  deinit { if let listing { closedir(listing) } }

  mutating func sweep(now: ContinuousClock.Instant = .now) {
    guard now >= next else { return }
    next = now + .seconds(1)
    for _ in 0..<Self.batch {
      if listing == nil { listing = opendir(folder) }
      guard let open = listing else { return }
      guard let entry = readdir(open) else {
        closedir(open)
        listing = nil
        return
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard entry.pointee.d_type == DT_SOCK else { continue }
      let path = folder + "/" + name
      // Names are random and never reused: this removes the same socket that was found closed.
      if Messages.hasGone(connecting: { address in withSocketAddress(path, address) }) { unlink(path) }
    }
  }
}
