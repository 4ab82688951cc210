import Acoustics
import Settings

/// A feed in the answers to its methods and, besides `main`, in `status`.
package typealias FeedReport = Joined<FeedSetting, FeedFields>

/// What is said of a feed besides its values; its properties are the JSON keys.
package struct FeedFields: Codable, Sendable {
  /// What the pattern is weak in at its look.
  package var weak: String?
  /// Its outputs' ports, and their levels.
  package var outputs: [StatusFields.NamedLevel] = []
  /// Whether this is what the ports play, rather than what they will.
  package var isHeard = false
  /// Why it is not heard; nil if it is, or will be.
  package var obstacle: String?

  package init() {}
}

extension StatusReport {
  /// All feeds, `main` first.
  package var allFeeds: [FeedReport] {
    var main = FeedFields()
    (main.outputs, main.isHeard) = (self.levels.outputs, true)
    return [FeedReport(first, main)] + (self.feeds ?? [])
  }
}

/// The answer to a method of one feed.
package struct FeedAnswer: Codable, Sendable {
  package var feed: FeedReport?
  /// The name of a feed that is no longer there.
  package var removed: String?

  package init(feed: FeedReport) { self.feed = feed }
  package init(removed: String) { self.removed = removed }
}

/// The answer to `/pinna/feed/list`.
package struct FeedsAnswer: Codable, Sendable {
  package let feeds: [FeedReport]
  package init(feeds: [FeedReport]) { self.feeds = feeds }
}
