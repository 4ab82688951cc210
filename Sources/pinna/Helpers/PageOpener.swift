import Control
import Glibc
import Messages
import Plots
import Settings
import Text
import Threads

/// Opens the web page of a running Pinna in the user's browser.
///
/// Thread: any that may wait.
struct PageOpener {
  /// What follows the name of the file with the page's address, in the runtime folder.
  static let kind = "web"

  let name: String

  /// - Parameter showsFailure: whether the browser shows why there is no page: an entry of a desktop has no terminal.
  /// - Throws: `Failure`, also if no browser is found.
  func open(showsFailure: Bool) throws(Failure) {
    do throws(Failure) {
      try Self.browse(address())
    } catch {
      if showsFailure { try? show(error) }
      throw error
    }
  }

  /// The page's address, with its token. Starts Pinna where none is running.
  private func address() throws(Failure) -> String {
    if try isRunning() {
      let answer = try ControlClient(name: name).request(OSCMessage("/pinna/web"), seconds: 5)
      // The file has the address. It may just have started.
      if let address = try awaitAddress(seconds: 2) { return address }
      throw Failure(
        .failed,
        answer.status == .done
          ? "the web page has ended; see what pinna run says"
          : "the running Pinna serves no web page: \(answer.text)")
    }
    guard name == "pinna" else { throw ControlClient(name: name).notRunning }
    let unit = try UserUnit.start()
    if let address = try awaitAddress(seconds: 20, unit) { return address }
    throw Failure(
      .failed,
      "\(unit.name).service was started, but serves no web page; see: journalctl --user -u \(unit.name)")
  }

  private func isRunning() throws(Failure) -> Bool {
    do throws(Failure) {
      _ = try ControlClient(name: name).request(OSCMessage("/pinna/status"), seconds: 5)
      return true
    } catch  where error.status == .notRunning { return false }
  }

  /// - Returns: nil if there is none in time.
  /// - Throws: if the unit that was started has failed.
  private func awaitAddress(seconds: Double, _ unit: UserUnit? = nil) throws(Failure) -> String? {
    let end = ContinuousClock.now + .seconds(seconds)
    let path = RuntimeFile.path(name: name, kind: Self.kind)
    repeat {
      // In this order: a Pinna that was killed leaves its file, and the next one replaces it before it answers.
      if try isRunning(), let text = SmallFile.text(path, limit: 4096)?.filter({ !$0.isNewline }),
        text.hasPrefix("http://127.0.0.1:"), text.allSatisfy({ $0.isASCII && !$0.isWhitespace })
      {
        return text
      }
      if let unit, unit.hasFailed {
        throw Failure(.failed, "\(unit.name).service has failed; see: journalctl --user -u \(unit.name)")
      }
      usleep(250_000)
    } while .now < end
    return nil
  }

  /// Shows a sentence as a page of its own.
  private func show(_ failure: Failure) throws(Failure) {
    try RuntimeFolder.prepare()
    let path = RuntimeFile.path(name: name, kind: "html")
    try RuntimeFile.write(
      """
      <!doctype html><html lang="en"><meta charset="utf-8"><title>Pinna</title>
      <p>Pinna cannot show its page: \(failure.description.escapedForHTML)
      """, to: path, "read it in a terminal: pinna monitor --web")
    try Self.browse(path)
  }

  /// Opens `target` in the user's browser. Other users see the browser's command line, but reach no page of ours
  /// (`PeerUser`).
  private static func browse(_ target: String) throws(Failure) {
    guard let opener = ChildProcess.path(ofProgram: "xdg-open") else {
      throw Failure(.failed, "xdg-open is missing (Debian package xdg-utils); open \(target) in a browser")
    }
    let process: ChildProcess
    do throws(NoProcess) { process = try ChildProcess(opener, [target]) } catch {
      throw Failure(.failed, error.description)
    }
    // Without a desktop, it runs as long as the browser.
    let end = ContinuousClock.now + .seconds(5)
    while process.isRunning, .now < end { usleep(20_000) }
    guard process.isRunning || process.waitUntilExit() == .exit(0) else {
      throw Failure(.failed, "xdg-open has found no browser; open \(target) in one")
    }
  }
}
