import Foundation
import Synchronization

/// Says on a terminal how far a long computation is; a pipe gets one line.
enum DesignProgress {
  /// Of a device's filters.
  static func show(_ device: String) -> @Sendable (Double) -> Void {
    show("designing the filters of \(device)", keeping: "they are kept for the next time")
  }

  /// Of what a device's body does to the sound around it.
  static func showBody(of device: String) -> @Sendable (Double) -> Void {
    show("computing how sound goes around \(device)", keeping: nil)
  }

  private static func show(_ doing: String, keeping: String?) -> @Sendable (Double) -> Void {
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
        let text = "\r\(doing): \(percent) %\(percent >= 100 ? "\n" : "")"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
      } else if previous < 0 {
        Tool.complain([doing, keeping].compactMap(\.self).joined(separator: "; "))
      }
    }
  }
}
