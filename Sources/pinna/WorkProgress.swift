import Foundation
import Synchronization

/// Says how far a long computation is: a bar on a terminal, lines in a pipe.
enum WorkProgress {
  /// Whether the cursor stands behind an unfinished bar.
  private static let lineIsOpen = Mutex(false)

  /// For verbs that do something else than designing: a pipe gets one line.
  static func designing(_ device: String) -> @Sendable (Double) -> Void {
    show("designing the filters of \(device)", note: "they are kept for the next time", step: 101)
  }

  /// What a device's body does to the sound of a scene.
  static func soundAround(_ device: String) -> @Sendable (Double) -> Void {
    show("computing how sound goes around \(device)", step: 101)
  }

  /// - Parameters:
  ///   - note: what else there is to say once.
  ///   - step: a pipe gets a line at the start, and then whenever so many per cent more are done.
  static func show(_ work: String, note: String? = nil, step: Int = 25) -> @Sendable (Double) -> Void {
    let last = Mutex(-1)
    let isTerminal = isatty(STDERR_FILENO) == 1
    return { fraction in
      let percent = min(100, max(0, Int(100 * fraction)))
      let fresh = last.withLock { previous in
        defer { previous = max(previous, percent) }
        return percent > previous ? previous : nil
      }
      guard let previous = fresh else { return }
      if isTerminal {
        draw(work, percent)
      } else if previous < 0 {
        Tool.complain([work, note].compactMap(\.self).joined(separator: "; "))
      } else if percent / step > previous / step {
        Tool.complain("\(work): \(percent) %")
      }
    }
  }

  /// Leaves an unfinished bar where it is, and begins a new line.
  static func endLine() {
    lineIsOpen.withLock { isOpen in
      if isOpen { Output.show("\n") }
      isOpen = false
    }
  }

  private static func draw(_ work: String, _ percent: Int) {
    let width = 24
    let filled = width * percent / 100
    let bar = String(repeating: "█", count: filled)
    let rest = String(repeating: "░", count: width - filled)
    let (colour, plain) = hasColour ? ("\u{1b}[36m", "\u{1b}[0m") : ("", "")
    lineIsOpen.withLock { isOpen in
      Output.show("\r\(work) \(colour)\(bar)\(rest)\(plain) \(percent) %" + (percent == 100 ? "\n" : ""))
      isOpen = percent < 100
    }
  }

  /// - Source: no-color.org: any value but the empty one turns colour off.
  private static var hasColour: Bool {
    let environment = ProcessInfo.processInfo.environment
    return (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }
}
