import Acoustics
import Realtime
import Settings

/// A feed's last target with its tables, which take a moment to compute. A change of gain or strength
/// alone, or of where talkers sit, reuses them.
public struct ReusableTarget: Sendable {
  private let target: AdaptiveFilters.Target
  // What its tables are for: with the selection that is played.
  private let feed: FeedSetting
  private let whole: FilterSet

  /// Parameters are those of `AdaptiveModel.target`, which made `target`.
  public init(_ target: AdaptiveFilters.Target, for feed: FeedSetting, whole: FilterSet) {
    (self.target, self.feed, self.whole) = (target, feed, whole)
  }

  /// The target of a changed setting of the feed; nil if that needs other tables.
  /// - Parameter findsDirections: whether any feed needs directions.
  public func target(
    for other: FeedSetting, whole: FilterSet, places: [String: Direction], findsDirections: Bool = true
  ) -> AdaptiveFilters.Target? {
    guard whole === self.whole, target.array != nil || !findsDirections,
      needsSameTables(as: other)
    else { return nil }
    var target = target
    if !findsDirections { target.array = nil }
    (target.strength, target.windStrength) = (other.correction, other.wind)
    if target.part != nil {
      let gains = other.partGains
      (target.part!.talkers, target.part!.room) = (gains.talkers, gains.room)
      if case .one(let name) = other.part { target.part!.picked = .init(name, places) }
    }
    return target
  }

  private func needsSameTables(as other: FeedSetting) -> Bool {
    feed.selection == other.selection && feed.part == other.part && feed.frame == other.frame
      && feed.isWhole == other.isWhole && (feed.correction > 0) == (other.correction > 0)
      && (feed.wind > 0) == (other.wind > 0) && (feed.partGains.room == 0) == (other.partGains.room == 0)
  }
}
