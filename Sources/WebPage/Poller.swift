import Control
import Foundation
import Threads

/// Asks Pinna for what the pages show, once for all of them, and only while one is open.
///
/// Thread: its own.
final class Poller: Sendable {
  private static let statusInterval = Duration.milliseconds(100)
  private static let levelsInterval = Duration.milliseconds(50)
  /// Fifteen times a second.
  private static let outputsInterval = Duration.milliseconds(66)
  /// How long to leave alone a method that this Pinna does not have.
  private static let absenceInterval = Duration.seconds(10)
  /// Of the outputs, for the goniometer and the spectrum.
  private static let outputFrames: Int32 = 2048

  private let client: ControlClient
  private let feed: Feed

  init(_ client: ControlClient, _ feed: Feed) {
    self.client = client
    self.feed = feed
  }

  /// Never returns.
  func run() {
    var (status, levels, outputs) = (ContinuousClock.now, ContinuousClock.now, ContinuousClock.now)
    while true {
      guard feed.hasStreams else {
        feed.forget()
        usleep(50_000)
        continue
      }
      let now = ContinuousClock.now
      if now >= status {
        status = now + Self.statusInterval
        pollStatus()
      }
      if now >= levels {
        levels = now + Self.levelsInterval
        if let text = ask(OSCMessage("/pinna/levels")) { feed.setLevels(text) }
      }
      if now >= outputs {
        let text = ask(OSCMessage("/pinna/outputs", [.integer(Self.outputFrames)]))
        if let text { feed.setOutputs(text) }
        outputs = now + (text == nil ? Self.absenceInterval : Self.outputsInterval)
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
      // These come by themselves, and more often.
      fields.remove("levels")
      feed.setStatus(fields)
    } catch {
      feed.setAbsence(error.description)
      usleep(200_000)
    }
  }

  private func ask(_ message: OSCMessage) -> String? {
    guard let answer = try? client.request(message, seconds: 2), answer.status == .done else { return nil }
    return answer.text.contains("\n") ? nil : answer.text
  }
}
