import Control
import Foundation
import Presets
import Threads

/// Asks Pinna for levels 20 times a second, for its status 5 times, and for what there is to choose every two seconds, on
/// a thread of its own, so that the view never waits.
final class Feed: Sendable {
  private static let interval = Duration.milliseconds(50)
  private static let pauseWithoutPinna = Duration.milliseconds(250)
  /// How long to wait for an answer, in seconds.
  static let patience = 2.0

  private let client: ControlClient
  private let news: Mailbox<News>
  /// The device whose picture was asked for last.
  private let device = Locked<String?>(nil)

  init(_ client: ControlClient, _ news: Mailbox<News>) {
    self.client = client
    self.news = news
  }

  func start() throws(Failure) {
    do { try BackgroundThread.start("monitor-feed") { self.run() } } catch { throw Failure(error) }
  }

  private func run() {
    var round = 0
    var next = ContinuousClock.now
    while true {
      do {
        if round % 4 == 0 { try askStatus() } else { news.put(.meters(try ask("/pinna/levels"))) }
        if round % 40 == 0 { news.put(.inputs(try ask("/pinna/inputs"))) }
        if round % 100 == 0 {
          let names: NamesAnswer = try ask("/pinna/presets")
          news.put(.presets(names.presets ?? []))
        }
        round += 1
        // Late answers are not made up for.
        next = max(next + Self.interval, .now)
      } catch {
        news.put(.unreachable(Failure(error)))
        round = 0
        device.withLock { $0 = nil }
        next = .now + Self.pauseWithoutPinna
      }
      let wait = next - .now
      if wait > .zero { usleep(UInt32(wait.components.attoseconds / 1_000_000_000_000)) }
    }
  }

  /// Asks for the status, and has the device's picture read when it is another device.
  ///
  /// Thread: any that may wait.
  func askStatus() throws {
    let answer = try answer("/pinna/status")
    let status: StatusReport = try answer.document()
    let details = try JSONDecoder().decode(Details.self, from: Data(answer.text.utf8))
    news.put(.status(status, details))
    let isOther = device.withLock { device in
      defer { device = status.device }
      return device != status.device
    }
    guard isOther else { return }
    // The file may be on a disk that does not answer.
    try? BackgroundThread.start("monitor-device") { [news] in
      news.put(.device(try? Picture(PresetLibrary.standard.device(named: status.device))))
    }
  }

  private func answer(_ path: String) throws -> Answer {
    let answer = try client.request(OSCMessage(path), seconds: Self.patience)
    guard answer.status == .done else { throw Failure(answer.status, answer.text) }
    return answer
  }

  private func ask<Document: Decodable>(_ path: String) throws -> Document {
    try JSONDecoder().decode(Document.self, from: Data(answer(path).text.utf8))
  }
}
