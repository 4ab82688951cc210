import Glibc
import Messages
import Presets
import Settings
import Threads

/// Asks Pinna for what the view shows, on a thread of its own, so that the view never waits: levels 15 times a second, the
/// status 5 times, inputs every two seconds, and presets every five.
final class MonitorPoller: Sendable {
  private static let interval = Duration.milliseconds(50)
  private static let pauseWithoutPinna = Duration.milliseconds(250)
  /// How long to wait for an answer, in seconds.
  private static let patience = 2.0

  private struct PictureState {
    /// The device whose picture was asked for last; nil for none.
    var device: String?
    var isBeingRead = false
  }

  private let client: ControlClient
  private let news: Mailbox<News>
  private let picture = Locked(PictureState())

  init(_ client: ControlClient, _ news: Mailbox<News>) {
    self.client = client
    self.news = news
  }

  func start() throws(Failure) {
    do { try BackgroundThread.start("monitor-poll") { self.run() } } catch { throw Failure(error) }
  }

  private func run() {
    var round = 0
    var next = ContinuousClock.now
    while true {
      do throws(Failure) {
        if round % 4 == 0 { try askStatus() } else { news.put(.levels(try ask("/pinna/levels"))) }
        if round % 40 == 0 { askInputs() }
        if round % 100 == 0 { askPresets() }
        round += 1
        // Late answers are not made up for.
        next = max(next + Self.interval, .now)
      } catch {
        news.put(.unreachable(error))
        round = 0
        if error.status == .notRunning { picture.withLock { $0.device = nil } }
        next = .now + Self.pauseWithoutPinna
      }
      let wait = next - .now
      if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
    }
  }

  /// Asks for the status, and has the device's picture read if it is another device.
  ///
  /// Thread: any that may wait.
  func askStatus() throws(Failure) {
    let status: StatusReport = try ask("/pinna/status")
    news.put(.status(status))
    let device = status.device
    let isDue = picture.withLock { picture in
      guard picture.device != device, !picture.isBeingRead else { return false }
      picture = PictureState(device: device, isBeingRead: true)
      return true
    }
    guard isDue else { return }
    // The file may be on a disk that does not answer.
    do {
      try BackgroundThread.start("monitor-picture") { [news, picture] in
        news.put(.picture(try? Picture(PresetLibrary.standard.device(named: device)), device: device))
        picture.withLock { $0.isBeingRead = false }
      }
    } catch { picture.withLock { $0 = PictureState() } }
  }

  /// Without an answer the previous choices stay: levels and status matter more.
  private func askInputs() {
    if let inputs: InputsReport = try? ask("/pinna/inputs") { news.put(.inputs(inputs)) }
  }

  private func askPresets() {
    guard let names: NamesAnswer = try? ask("/pinna/presets") else { return }
    news.put(.presets(names.presets ?? []))
  }

  private func ask<Document: Decodable>(_ path: String) throws(Failure) -> Document {
    try client.request(OSCMessage(path), seconds: Self.patience).document()
  }
}
