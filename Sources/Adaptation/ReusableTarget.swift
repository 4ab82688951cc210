import Acoustics
import Realtime
import Settings

/// A feed's last target with its tables, which take a moment to compute. A change of gain or strength
/// alone, or of where talkers sit, reuses them.
public struct ReusableTarget: Sendable {
  /// Seconds without a turn after which tables that take long are computed, live and in renderings.
  public static let rest = 0.3

  private var target: AdaptiveFilters.Target
  // What its tables are for: with the selection that is played.
  private let feed: FeedSetting
  private let whole: FilterSet

  /// Parameters are those of `AdaptiveModel.target`, which made `target`.
  public init(_ target: AdaptiveFilters.Target, for feed: FeedSetting, whole: FilterSet) {
    (self.target, self.feed, self.whole) = (target, feed, whole)
  }

  /// Of the setting, as in `Engine.change`.
  public var lineage: Int {
    get { target.lineage }
    set { target.lineage = newValue }
  }

  /// The target of a changed setting of the feed; nil if that needs other tables.
  /// - Parameter findsDirections: whether any feed needs directions.
  public func target(
    for other: FeedSetting, whole: FilterSet, places: [String: Direction], findsDirections: Bool = true
  ) -> AdaptiveFilters.Target? {
    guard whole === self.whole, target.array != nil || !findsDirections, !target.lacksTables,
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

  /// The target of the feed after a turn, made at once: it may lack tables. Wind stays away with it, and talkers are heard.
  /// - Parameters: those of `AdaptiveModel.target`.
  /// - Returns: nil if the setting is not the same, turned.
  public func target(
    turnedTo other: FeedSetting, whole: FilterSet, places: [String: Direction], lineage: Int,
    _ model: AdaptiveModel, delayFrames: Int
  ) -> AdaptiveFilters.Target? {
    guard lineage != 0, lineage == self.lineage, whole.outputs == self.whole.outputs else { return nil }
    return try? model.target(
      other, whole: whole, delayFrames: delayFrames, places: places, lineage: lineage, turnedFrom: target)
  }

  private func needsSameTables(as other: FeedSetting) -> Bool {
    feed.selection == other.selection && feed.part == other.part && feed.frame == other.frame
      && feed.isWhole == other.isWhole && (feed.correction > 0) == (other.correction > 0)
      && (feed.wind > 0) == (other.wind > 0) && (feed.partGains.room == 0) == (other.partGains.room == 0)
  }
}
