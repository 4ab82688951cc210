import CNcurses
import Glibc

/// Gives the terminal back if the program crashes: a shell on a raw terminal shows nothing that one types.
///
/// Thread: the loop's; the handler runs on whichever thread crashes, and calls only what signal handlers may call.
enum CrashGuard {
  private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT]

  nonisolated(unsafe) private static var isArmed = false
  nonisolated(unsafe) private static var modes = termios()
  nonisolated(unsafe) private static var output: Int32 = -1
  /// What ends the full screen and shows the cursor, as terminfo has it, which outlives the program.
  nonisolated(unsafe) private static var farewell: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) = (nil, nil)

  /// - Parameter modes: those to restore.
  static func arm(_ modes: termios, output: Int32) {
    self.modes = modes
    self.output = output
    farewell = (UnsafePointer(tigetstr("rmcup")), UnsafePointer(tigetstr("cnorm")))
    isArmed = true
    for number in signals {
      signal(number) { number in
        if CrashGuard.isArmed { CrashGuard.restore() }
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  static func disarm() { isArmed = false }

  private static func restore() {
    isArmed = false
    for text in [farewell.0, farewell.1] {
      // terminfo says -1 for what is no string.
      guard let text, Int(bitPattern: text) != -1 else { continue }
      _ = write(output, text, strlen(text))
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &modes)
  }
}
