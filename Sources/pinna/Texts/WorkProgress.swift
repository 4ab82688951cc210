import Glibc
import Synchronization

/// Shows the progress of a long computation: a bar with the time left on a terminal, lines in a pipe.
enum WorkProgress {
  /// Whether the current line of the terminal is an unfinished bar.
  private static let lineIsOpen = Mutex(false)

  /// Progress of a design that another verb needs. A pipe gets one line.
  static func designing(_ device: String) -> @Sendable (Double) -> Void {
    show("designing the filters of \(device)", note: "they are stored for next time", step: 101)
  }

  /// Progress of simulating a scene: how the device's body scatters its sound. A pipe gets one line.
  static func soundField(_ device: String) -> @Sendable (Double) -> Void {
    show("computing the sound field around \(device)", step: 101)
  }

  /// Progress of a step that usually takes no time: a bar appears after a second, and a pipe gets nothing.
  static func onTerminal(_ work: String) -> @Sendable (Double) -> Void {
    guard isatty(STDERR_FILENO) == 1 else { return { _ in } }
    let show = show(work)
    let start = ContinuousClock.now
    let isShown = Mutex(false)
    return { fraction in
      let shows = isShown.withLock { isShown in
        isShown = isShown || (fraction < 0.9 && ContinuousClock.now - start > .seconds(1))
        return isShown
      }
      if shows { show(fraction) }
    }
  }

  /// - Parameters:
  ///   - note: shown once, in a pipe only.
  ///   - step: a pipe gets a line at the start, and one each time another `step` per cent are done.
  /// - Returns: a function to call with the fraction that is done, 0…1, from any thread.
  static func show(_ work: String, note: String? = nil, step: Int = 25) -> @Sendable (Double) -> Void {
    let last = Mutex(-1)
    let timeLeft = Mutex(TimeLeft())
    let isTerminal = isatty(STDERR_FILENO) == 1
    return { fraction in
      let percent = min(100, max(0, Int(100 * fraction)))
      let shown = last.withLock { previous in
        defer { previous = max(previous, percent) }
        return percent > previous ? previous : nil
      }
      guard let previous = shown else { return }
      if isTerminal {
        draw(work, percent, timeLeft.withLock { $0.text(at: fraction) })
      } else if previous < 0 {
        Tool.complain([work, note].compactMap(\.self).joined(separator: "; "))
      } else if percent / step > previous / step {
        Tool.complain("\(work): \(percent) %")
      }
    }
  }

  /// Starts a new line if the current one is an unfinished bar.
  static func endLine() {
    lineIsOpen.withLock { isOpen in
      if isOpen { Output.show("\n") }
      isOpen = false
    }
  }

  /// Spaces up to this length cover what was drawn before.
  private static let longestTimeLeft = 20

  private static func draw(_ work: String, _ percent: Int, _ timeLeft: String) {
    let width = 24
    let filled = width * percent / 100
    let bar = String(repeating: "█", count: filled)
    let rest = String(repeating: "░", count: width - filled)
    let (colour, plain) = Output.allowsColour ? ("\u{1b}[36m", "\u{1b}[0m") : ("", "")
    lineIsOpen.withLock { isOpen in
      let end = timeLeft.padded(longestTimeLeft) + (percent == 100 ? "\n" : "")
      Output.show("\r\(work) \(colour)\(bar)\(rest)\(plain) \(percent) %  \(end)")
      isOpen = percent < 100
    }
  }
}
