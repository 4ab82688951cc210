import Glibc
import Messages
import Settings
import Threads

/// Asks Pinna for what the pages show, once for all of them, and only while one is open.
///
/// Thread: its own.
struct Poller: Sendable {
  private static let statusInterval = Duration.milliseconds(100)
  private static let levelsInterval = Duration.milliseconds(50)
  /// Fifteen times a second.
  private static let outputsInterval = Duration.milliseconds(66)
  /// How long to leave alone a method that this Pinna does not have.
  private static let absenceInterval = Duration.seconds(10)
  /// Of the outputs, for the goniometer and the spectrum.
  private static let outputFrames: Int32 = 2048

  let client: ControlClient
  let events: PageEvents

  /// Never returns.
  func run() {
    var (status, levels, outputs) = (ContinuousClock.now, ContinuousClock.now, ContinuousClock.now)
    while true {
      guard events.hasStreams else {
        events.forget()
        events.waitForStream()
        continue
      }
      let now = ContinuousClock.now
      if now >= status {
        status = now + Self.statusInterval
        pollStatus()
      }
      if now >= levels {
        levels = now + Self.levelsInterval
        if let answer = ask(OSCMessage("/pinna/levels")), answer.status == .done {
          events.setLevels(answer.text)
        }
      }
      if now >= outputs {
        let answer = ask(OSCMessage("/pinna/outputs", [.integer(Self.outputFrames)]))
        if let answer, answer.status == .done { events.setOutputs(answer.text) }
        outputs = now + (answer?.status == .usage ? Self.absenceInterval : Self.outputsInterval)
      }
      let wait = min(status, levels, outputs) - .now
      if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
    }
  }

  private func pollStatus() {
    do throws(Failure) {
      let answer = try client.request(OSCMessage("/pinna/status"), seconds: 2)
      guard answer.status == .done, var fields = JSONFields(answer.text) else {
        throw Failure(.failed, answer.text)
      }
      // Levels have an event of their own.
      fields.remove("levels")
      events.setStatus(fields)
    } catch {
      events.setAbsence(error.description)
      usleep(200_000)
    }
  }

  /// - Returns: nil without an answer, or if it has several lines, which an event cannot hold.
  private func ask(_ message: OSCMessage) -> Answer? {
    guard let answer = try? client.request(message, seconds: 2) else { return nil }
    return answer.text.contains("\n") ? nil : answer
  }
}
