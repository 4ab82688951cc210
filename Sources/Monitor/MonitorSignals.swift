import CFiles
import Glibc
import Messages
import Settings

/// Signals as bytes of a pipe, which the loop waits for. Handlers, because threads of libraries (OpenBLAS) are there
/// before `main` and block no signal; and they replace those that curses sets, which end the process.
///
/// Thread: the loop's.
struct MonitorSignals {
  nonisolated(unsafe) private static var pipeEnd: Int32 = -1

  /// Readable while there is something to drain.
  let descriptor: Int32

  /// Call it after `Screen` is made, and once.
  init() throws(Failure) {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else {
      throw Failure(.failed, "there are no file descriptors left")
    }
    descriptor = ends[0]
    Self.pipeEnd = ends[1]
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP] {
      signal(number) { number in
        let before = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(MonitorSignals.pipeEnd, &byte, 1)
        errno = before
      }
    }
  }

  /// The signals that came since the last call.
  func drain() -> [Int32] {
    var numbers: [Int32] = []
    var bytes = [UInt8](repeating: 0, count: 64)
    while true {
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return numbers }
      numbers += bytes[..<count].map(Int32.init)
    }
  }
}
