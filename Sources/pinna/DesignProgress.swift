import Foundation
import Synchronization

/// Says on a terminal how far a filter design is; a pipe gets one line.
enum DesignProgress {
  static func show(_ device: String) -> @Sendable (Double) -> Void {
    let last = Mutex(-1)
    let terminal = isatty(STDERR_FILENO) == 1
    return { fraction in
      let percent = Int(100 * fraction)
      let fresh = last.withLock { previous in
        defer { previous = max(previous, percent) }
        return percent > previous ? previous : nil
      }
      guard let previous = fresh else { return }
      if terminal {
        let text = "\rdesigning the filters of \(device): \(percent) %\(percent >= 100 ? "\n" : "")"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
      } else if previous < 0 {
        Tool.complain("designing the filters of \(device); they are kept for the next time")
      }
    }
  }
}
