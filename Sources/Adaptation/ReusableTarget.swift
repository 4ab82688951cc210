import Acoustics
import Realtime
import Settings

/// What a feed followed the sound with last. Gain and strength change often, and tables take a moment to make.
public struct KnownTarget: Sendable {
  private let target: AdaptiveFilters.Target
  // What its tables are for: with the selection that is played.
  private let feed: FeedSetting
  private let whole: FilterSet
  private let places: [String: Direction]

  /// - Parameters: as of `AdaptiveModel.target`, which made it.
  public init(
    _ target: AdaptiveFilters.Target, for feed: FeedSetting, whole: FilterSet, places: [String: Direction]
  ) {
    (self.target, self.feed, self.whole, self.places) = (target, feed, whole, places)
  }

  /// The target of another setting of the feed, if the tables serve.
  /// - Parameter findsDirections: whether any feed needs directions.
  public func serving(
    _ other: FeedSetting, whole: FilterSet, places: [String: Direction], findsDirections: Bool = true
  ) -> AdaptiveFilters.Target? {
    guard whole === self.whole, places == self.places, target.array != nil || !findsDirections, isAlike(other)
    else { return nil }
    var target = target
    if !findsDirections { target.array = nil }
    (target.strength, target.windStrength) = (other.correction, other.wind)
    if target.part != nil {
      let gains = other.partGains
      (target.part!.talkers, target.part!.room) = (gains.talkers, gains.room)
    }
    return target
  }

  private func isAlike(_ other: FeedSetting) -> Bool {
    feed.selection == other.selection && feed.part == other.part && feed.frame == other.frame
      && feed.isWhole == other.isWhole && (feed.correction > 0) == (other.correction > 0)
      && (feed.wind > 0) == (other.wind > 0) && (feed.partGains.room == 0) == (other.partGains.room == 0)
  }
}
