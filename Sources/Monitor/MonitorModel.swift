import Acoustics
import Messages
import Settings

/// All that the view shows: what Pinna said last, what is remembered of it (holds, clips), and where the user is.
///
/// Thread: any; a value.
package struct MonitorModel: Sendable {
  package typealias Instant = ContinuousClock.Instant

  /// What is shown in a row for a while.
  struct Notice: Sendable {
    enum Kind { case refusal, progress, info }
    let kind: Kind
    let text: String
    let end: Instant
  }
  /// A value that was asked for and may not be in force yet: the next key counts on from it.
  struct Attempt: Sendable {
    let value: String
    var end: Instant
  }
  enum Overlay: Sendable {
    /// - Parameter page: which part of it, counted on from the first.
    case help(page: Int)
    case presets(selected: Int)
    /// The first choice is all of them.
    case microphones(selected: Int)
    case text(Row, String)
  }

  static let refusalTime = Duration.seconds(8)
  /// In which the second `r` ends a take.
  static let confirmationTime = Duration.seconds(3)
  /// An `r` that comes sooner after the one before is no press: the key is held, or text was pasted.
  static let repeatTime = Duration.milliseconds(300)
  /// A level from here on counts as clipped, in dB: reports are rounded to 0.1 dB.
  static let clipLevel = -0.05
  /// After so long without an answer what is shown is old.
  static let staleTime = Duration.seconds(2)

  package let name: String
  var status: StatusReport?
  var levels: StatusFields.Levels?
  var inputs: InputsReport?
  var presets: [String] = []
  var picture: Picture?
  /// Why nothing is heard from Pinna; nil while it answers.
  var failure: Failure?
  /// Since when `failure` lasts.
  var failingSince: Instant?

  /// The highest peak of each port, in dB, since holds were cleared.
  var holds: [String: Double] = [:]
  /// Ports that clipped since then.
  var clips: Set<String> = []
  private var clippedSamples: Int?

  /// Name of the feed that keys act on. It stays when there is no such feed any more: then keys do nothing.
  var chosenFeed = FeedSetting.main
  var notices: [Row: Notice] = [:]
  var attempts: [Row: Attempt] = [:]
  var overlay: Overlay?
  /// Until when another `r` ends the take.
  var confirmation: Instant?
  /// When `r` came last.
  var lastRecordKey: Instant?
  /// The user wants to leave.
  package internal(set) var isDone = false

  /// - Parameter name: of the Pinna to watch.
  package init(name: String) { self.name = name }

  /// Takes up what Pinna says.
  package mutating func take(_ news: News, at now: Instant) {
    switch news {
    case .levels(let levels): take(levels)
    case .status(let status):
      if failure?.status == .notRunning { forget() }
      (failure, failingSince) = (nil, nil)
      if let before = clippedSamples, status.clippedSamples > before {
        clips.formUnion(["out_left", "out_right"])
      }
      clippedSamples = status.clippedSamples
      if self.status?.device != status.device { picture = nil }
      self.status = status
      take(status.levels)
    case .inputs(let inputs): self.inputs = inputs
    case .presets(let presets): self.presets = presets
    // Another device may have come since it was asked for.
    case .picture(let picture, let device): if device == status?.device { self.picture = picture }
    case .unreachable(let failure):
      self.failure = failure
      failingSince = failingSince ?? now
    case .outcome(let row, let outcome): take(outcome, of: row, at: now)
    }
  }

  private mutating func take(_ levels: StatusFields.Levels) {
    self.levels = levels
    for level in levels.microphones + levels.outputs + (levels.feeds ?? []) {
      holds[level.name] = max(holds[level.name] ?? -150, level.peakDB)
      if level.peakDB >= Self.clipLevel { clips.insert(level.name) }
    }
  }

  /// A reason as it fits into few rows: the take by the name of its file, and the key in place of the command.
  private func inShort(_ reason: String) -> String {
    var text = reason.replacing(Failure.stopHint, with: "press r twice to end it")
    if let path = status?.take?.path, let slash = path.lastIndex(of: "/") {
      text = text.replacing(path, with: path[path.index(after: slash)...])
    }
    return text
  }

  private mutating func take(_ outcome: Outcome, of row: Row, at now: Instant) {
    switch outcome {
    case .progress(let progress):
      let text = "\(progress.text): \(Int(100 * progress.part)) %"
      notices[row] = Notice(kind: .progress, text: text, end: now + .seconds(30))
      attempts[row]?.end = now + .seconds(30)
    case .done(let kept):
      notices[row] = kept.map { Notice(kind: .info, text: $0, end: now + Self.refusalTime) }
      // Until a status says the same.
      attempts[row]?.end = now + .milliseconds(500)
    case .failed(let reason):
      notices[row] = Notice(kind: .refusal, text: inShort(reason), end: now + Self.refusalTime)
      // Stepping through choices goes on behind the one that was refused.
      if [Row.setting(.dataSource), .setting(.pattern), .setting(.orientation)].contains(row) {
        attempts[row]?.end = now + Self.refusalTime
      } else {
        attempts[row] = nil
      }
    }
  }

  /// Drops what was remembered of a Pinna that has ended.
  private mutating func forget() {
    (holds, clips, clippedSamples, attempts) = ([:], [], nil, [:])
  }

  /// Drops what is over.
  package mutating func expire(at now: Instant) {
    notices = notices.filter { $0.value.end > now }
    attempts = attempts.filter { $0.value.end > now }
    if let end = confirmation, end <= now { confirmation = nil }
  }

  // MARK: What is in force

  /// Whether a take is running, or armed.
  var isLocked: Bool { status.map { [.recording, .armed].contains($0.state) } ?? false }

  var input: InputsReport.Input? { inputs?.inputs.first { $0.active } }

  /// The feed that keys act on; nil if there is no such feed.
  var feed: FeedReport? { status?.allFeeds.first { $0.name == chosenFeed } }
}
