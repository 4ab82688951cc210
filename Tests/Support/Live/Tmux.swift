import Foundation
import TestSupport

/// A terminal of a given size with a shell in it: tmux, with a server of its own.
public final class Tmux {
  public static let isInstalled = access("/usr/bin/tmux", X_OK) == 0

  private let home: PinnaHome
  private let socket: String
  private let environment: [String: String]
  private let server: Program

  /// - Parameter more: additions to the environment of what runs in the terminal.
  public init(home: PinnaHome, width: Int, height: Int, _ more: [String: String] = [:]) throws {
    self.home = home
    socket = home.folder.path + "/tmux"
    let base = home.environment.filter { !["TMUX", "NO_COLOR", "LC_ALL", "LC_CTYPE"].contains($0.key) }
    environment = base.merging(["LANG": "C.UTF-8", "PINNA": try PinnaHome.binary(), "PS1": "$ "]) { $1 }
      .merging(more) { $1 }
    // In the foreground: what a daemon inherits keeps its starter's `Process` from ending.
    server = try Program(
      "/usr/bin/tmux", ["-u", "-D", "-S", socket, "-f", "/dev/null"], environment: environment)
    // Refused until the server listens.
    let session = [
      "new-session", "-d", "-s", "test", "-x", String(width), "-y", String(height), "/bin/sh",
    ]
    guard waitUntil(seconds: 10, every: 20, { (try? tmux(session)) != nil }) else {
      throw SupportError("tmux does not start: \(server.errorText)")
    }
  }

  deinit {
    _ = try? tmux("kill-server")
    server.stop()
  }

  @discardableResult
  private func tmux(_ words: String...) throws -> String { try tmux(words) }

  @discardableResult
  private func tmux(_ words: [String]) throws -> String {
    // -N: a client must not become another server.
    let outcome = try Program.run(
      "/usr/bin/tmux", ["-u", "-N", "-S", socket] + words, environment: environment, seconds: 20)
    guard outcome.status == 0 else { throw SupportError("tmux \(words): \(outcome)") }
    return outcome.output
  }

  /// Types a line.
  public func enter(_ line: String) throws {
    try tmux("send-keys", "-t", "test", "-l", line)
    try tmux("send-keys", "-t", "test", "Enter")
  }

  /// Presses one key: a character, or a name of tmux's such as "Escape".
  /// - Parameter seconds: how long to wait before, for a key that means something else soon after another.
  public func press(_ key: String, after seconds: Double = 0) throws {
    usleep(UInt32(seconds * 1e6))
    try tmux("send-keys", "-t", "test", key)
  }

  public func resize(width: Int, height: Int) throws {
    try tmux("resize-window", "-t", "test", "-x", String(width), "-y", String(height))
  }

  /// What the terminal shows.
  /// - Parameter hasColours: with the sequences of its colours.
  public func screen(hasColours: Bool = false) throws -> String {
    try hasColours ? tmux("capture-pane", "-p", "-e", "-t", "test") : tmux("capture-pane", "-p", "-t", "test")
  }

  /// Whether a program uses the terminal as a whole (its alternate screen).
  public func isTaken() throws -> Bool {
    try tmux("display-message", "-p", "-t", "test", "#{alternate_on}").hasPrefix("1")
  }

  /// Waits until the terminal shows `text`.
  public func wait(for text: String, seconds: Double = 10) throws {
    guard try waitUntil(seconds: seconds, every: 50, { try screen().contains(text) }) else {
      throw SupportError("the terminal does not show \"\(text)\" but:\n\(try screen())")
    }
  }
}
