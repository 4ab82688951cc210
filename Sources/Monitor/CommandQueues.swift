import Glibc
import Messages
import Settings
import Threads

/// Sends what keys ask for: one request at a time for each row, so that a slow preset does not keep `mute` waiting.
///
/// Thread: any.
final class CommandQueues: Sendable {
  private struct Queue {
    var waiting: [Command] = []
    var isBusy = false
  }
  /// More presses than that are dropped.
  private static let longest = 16

  private let client: ControlClient
  private let poller: MonitorPoller
  private let news: Mailbox<News>
  private let queues = Locked<[Row: Queue]>([:])

  init(_ client: ControlClient, _ poller: MonitorPoller, _ news: Mailbox<News>) {
    self.client = client
    self.poller = poller
    self.news = news
  }

  func send(_ command: Command) {
    let row = command.row
    let mustStart = queues.withLock { queues in
      var queue = queues[row] ?? Queue()
      if row.isSetting { queue.waiting.removeAll { $0.message.path == command.message.path } }
      if queue.waiting.count < Self.longest { queue.waiting.append(command) }
      defer {
        queue.isBusy = true
        queues[row] = queue
      }
      return !queue.isBusy
    }
    guard mustStart else { return }
    do {
      try BackgroundThread.start("monitor-key") { self.work(row) }
    } catch {
      queues.withLock { $0[row] = nil }
      news.put(.outcome(row, .failed("\(error)")))
    }
  }

  private func work(_ row: Row) {
    while let command = next(row) {
      let outcome = outcome(of: command)
      news.put(.outcome(row, outcome))
      // So that the view shows the effect at once.
      if case .done = outcome { try? poller.askStatus() }
    }
  }

  private func next(_ row: Row) -> Command? {
    queues.withLock { queues in
      guard let first = queues[row]?.waiting.first else {
        queues[row] = nil
        return nil
      }
      queues[row]!.waiting.removeFirst()
      return first
    }
  }

  private func outcome(of command: Command) -> Outcome {
    do {
      let answer = try client.request(command.message, seconds: command.row.seconds) { [news] in
        news.put(.outcome(command.row, .progress($0)))
      }
      if answer.status == .usage, answer.text.hasPrefix("unknown method") {
        return .failed("this Pinna is older than the view and cannot do that")
      }
      if answer.text == Failure.superseded { return .done(kept: nil) }
      guard answer.status == .done else { return .failed(answer.text) }
      return .done(kept: (try? answer.document() as Deferral)?.kept)
    } catch {
      return .failed(error.description)
    }
  }

  /// The part of an answer that says why a change comes into force later.
  private struct Deferral: Decodable { let kept: String? }
}
