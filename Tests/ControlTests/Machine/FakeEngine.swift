import Messages
import Realtime

/// What the callback does with its queue, without audio. Messages and reports come in the engine's order;
/// `FakeEngineTests` compares the two. A fade takes two periods.
final class FakeEngine {
  enum Message {
    case change(Ticket)
    case substitute(Ticket)
    case beginTake(Ticket, followsTransport: Bool)
    case endTake(Ticket)
    case beginPlayback(Ticket)
    case endPlayback
  }
  enum Take {
    case idle
    case armed(Ticket)
    case recording(Ticket)
  }

  static let capacity = 256
  static let reserve = 8

  private var queue: [Message] = []
  private var reports: [Report] = []
  private(set) var current: Ticket?
  private var next: (ticket: Ticket, isSubstitute: Bool, periods: Int)?
  private var waiting: (ticket: Ticket, isSubstitute: Bool)?
  private(set) var take = Take.idle
  private var playing: (ticket: Ticket, isEnding: Bool, periods: Int)?
  private var frame = 0
  private var takeBegan = 0
  private var takeFollowsTransport = false
  private var isTakeArmed = false
  /// Whether the transport rolls.
  var isRolling = false

  var isRecording: Bool { if case .idle = take { false } else { true } }
  var isPlaying: Bool { playing != nil }
  var queued: Int { queue.count }

  func push(_ message: Message, fromReserve: Bool = false) throws(QueueRefusal) {
    guard Self.capacity - queue.count > (fromReserve ? 0 : Self.reserve) else { throw .queueFull }
    queue.append(message)
  }

  func drainReports() -> [Report] {
    if reports.isEmpty { return [] }
    defer { reports = [] }
    return reports
  }

  /// In hertz.
  var sampleRate = 48000
  /// Whether a period of another rate has come.
  private(set) var isRetired = false

  /// One period of 64 frames.
  func run(atRate rate: Int = 48000) {
    if rate != sampleRate { isRetired = true }
    if isRetired { return }
    if takeFollowsTransport, !isRolling, case .recording(let ticket) = take {
      take = .idle
      reports.append(.transportStopped(take: ticket, frame: frame))
    }
    for message in queue.prefix(16) { apply(message) }
    queue.removeFirst(min(16, queue.count))
    beginFade()
    if case .armed(let ticket) = take, isTakeDue(ticket) {
      take = .recording(ticket)
      takeBegan = frame
      reports.append(.takeBegan(ticket, frame: frame))
    }
    if let ended = playing, ended.isEnding {
      playing?.periods += 1
      if playing!.periods >= 2 {
        playing = nil
        reports.append(.playbackEnded(ended.ticket))
      }
    } else if playing != nil, playing!.periods < 2 {
      playing!.periods += 1
    }
    if let next, next.isSubstitute, next.periods == 0 {
      reports.append(.substituted(next.ticket, frame: frame, takeFrame: takeFrame))
    }
    frame += 64
    guard let fading = next else { return }
    if fading.periods == 1 {
      if let current { reports.append(.released(current)) }
      reports.append(.applied(fading.ticket, frame: frame))
      current = fading.ticket
      next = nil
    } else {
      next!.periods = 1
    }
  }

  private func apply(_ message: Message) {
    switch message {
    case .change(let ticket):
      switch take {
      case .armed(let take), .recording(let take):
        reports += [.refused(ticket, take: take), .released(ticket)]
      case .idle: wait(ticket, isSubstitute: false)
      }
    case .substitute(let ticket): wait(ticket, isSubstitute: true)
    case .beginTake(let ticket, let followsTransport):
      switch take {
      case .armed(let take), .recording(let take): reports.append(.refused(ticket, take: take))
      case .idle:
        take = .armed(ticket)
        takeFollowsTransport = followsTransport
        isTakeArmed = false
      }
    case .endTake(let ticket):
      switch take {
      case .idle: reports.append(.noTake(ticket))
      case .armed(let begun), .recording(let begun):
        take = .idle
        reports.append(.takeEnded(ticket, take: begun, frame: frame))
      }
    case .beginPlayback(let ticket):
      if playing == nil { playing = (ticket, false, 0) } else { reports.append(.playbackEnded(ticket)) }
    case .endPlayback:
      guard let current = playing, !current.isEnding else { return }
      // From the current loudness: a fade-in that has played for one period is one period from silence.
      playing = (current.ticket, true, current.periods < 2 ? 2 - current.periods : 0)
    }
  }

  private func isTakeDue(_ ticket: Ticket) -> Bool {
    if next != nil, !isTakeArmed { return false }
    guard takeFollowsTransport, !isRolling else { return true }
    if !isTakeArmed { reports.append(.takeArmed(ticket)) }
    isTakeArmed = true
    return false
  }

  private func wait(_ ticket: Ticket, isSubstitute: Bool) {
    if let older = waiting?.ticket { reports += [.superseded(older), .released(older)] }
    waiting = (ticket, isSubstitute)
    beginFade()
  }

  private func beginFade() {
    guard next == nil, let (ticket, isSubstitute) = waiting else { return }
    next = (ticket, isSubstitute, 0)
    waiting = nil
  }

  /// Frames since the running take began; nil if none runs.
  private var takeFrame: Int? { if case .recording = take { frame - takeBegan } else { nil } }
}
