import Acoustics
import Realtime
import Recording
import Rendering
import Settings

/// A crossfade to other filters for the same setting, because a microphone is missing or back, or because the feed follows
/// a pose.
struct Substitution {
  let feed: String
  /// The microphones that the filters do without.
  let missing: Set<String>
  /// Whether these are others than before.
  let isFallback: Bool
  /// What is played; nil if the feed follows no pose.
  let turned: Selection?

  /// The feed's name in sidecars: nil for `main`.
  static func file(_ feed: String) -> String? { FeedSetting.isMain(feed) ? nil : feed }
}

/// Substitutions on their way through the callback. They are allowed during takes, whose sidecars list them.
extension Processor {
  /// Fades feeds to the filters that are chosen by now.
  /// - Returns: whether they are on their way.
  @discardableResult func substitute(_ feeds: [String], isFallback: Bool = false) -> Bool {
    guard let client, let tickets = try? client.substitute(feeds, in: wanted) else { return false }
    for (feed, ticket) in tickets {
      let selection =
        FeedSetting.isMain(feed) ? wanted.main.selection : (try? wanted.feed(named: feed))?.selection
      let turned = selection.flatMap { $0.follows.isEmpty ? nil : onDemand.choice.played($0) }
      substitutions[ticket] = Substitution(
        feed: feed, missing: fallback.chosen, isFallback: isFallback, turned: turned)
      tracking.sent[feed] = turned
    }
    return !tickets.isEmpty
  }

  /// Handles the callback's report that the fade of a substitution begins.
  func substitutionBegan(_ ticket: Ticket, frame: Int, takeFrame: Int?) {
    guard let began = substitutions[ticket] else { return }
    let file = Substitution.file(began.feed)
    let recording = takeFrame.flatMap { frame in
      (state.take ?? takeAtStop).map { (take: $0.take, frame: frame + $0.take.preRollFrames) }
    }
    if let turned = began.turned {
      tracking.began(began.feed, at: frame, turned)
      if let (take, frame) = recording { take.addTurn(Sidecar.Turn(turned, frame: frame, feed: file)) }
    }
    guard began.isFallback else { return }
    if let (take, frame) = recording {
      take.addFallback(frame: frame, without: began.missing.sorted(), feed: file)
    }
    if file == nil { fallbackBegan(at: frame, without: began.missing) }
  }

  /// Handles the callback's report that a substitution is in force, or was replaced.
  /// - Returns: whether the ticket is that of a substitution.
  func substitutionEnded(_ ticket: Ticket, isInForce: Bool) -> Bool {
    guard let ended = substitutions.removeValue(forKey: ticket) else { return false }
    if isInForce, ended.isFallback, FeedSetting.isMain(ended.feed) { fallback.inForce = ended.missing }
    return true
  }
}
