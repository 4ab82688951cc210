import CFiles
import Glibc
import Threads

/// Where threads leave what they learnt for the loop, which sleeps in `poll`.
///
/// Thread: any; `drain` on the loop's.
final class Mailbox<Item: Sendable>: Sendable {
  private let items = Locked<[Item]>([])
  /// Readable while there is something to drain.
  let descriptor: Int32
  private let wakeUp: Int32

  /// Nil if the system has no descriptors left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { return nil }
    (descriptor, wakeUp) = (ends[0], ends[1])
  }

  func put(_ item: Item) {
    items.withLock { $0.append(item) }
    var byte: UInt8 = 0
    // A full pipe wakes the loop as well.
    _ = write(wakeUp, &byte, 1)
  }

  func drain() -> [Item] {
    var bytes = [UInt8](repeating: 0, count: 256)
    while read(descriptor, &bytes, bytes.count) > 0 {}
    return items.withLock { items in
      defer { items = [] }
      return items
    }
  }
}
