import Acoustics

/// A feed in the answers to its methods and, besides `main`, in `status`; its properties are the JSON keys.
package struct FeedReport: Codable, Sendable {
  package var name = ""
  package var dataSource = ""
  package var polarPattern = PolarPattern.omnidirectional
  package var inputOrientation = InputOrientation.portrait
  /// Where the mono pattern looks; nil for the data source's forward.
  package var look: Look?
  /// From −60 to 24 dB.
  package var gainDB = 0.0
  /// Corner of the high-pass; nil if it is off.
  package var highPassHz: Double?
  package var muted = false
  /// Its outputs' ports, and their levels.
  package var outputs: [StatusReport.NamedLevel] = []
  /// Whether this is what the ports play, rather than what they will.
  package var isHeard = false
  /// Why it is not heard; nil if it is, or will be.
  package var obstacle: String?

  package init() {}

  /// What it reports of, as a preset has it.
  package var feed: Feed {
    Feed(
      name: name,
      selection: Selection(
        dataSource: dataSource, polarPattern: polarPattern, inputOrientation: inputOrientation,
        look: look),
      gain: Decibels(gainDB), highPass: highPassHz.map { .on(Hertz($0)) } ?? .off)
  }
}

extension StatusReport {
  /// All feeds, `main` first.
  package var allFeeds: [FeedReport] { [main] + (feeds ?? []) }

  /// What is said of `main`, in a feed's words.
  private var main: FeedReport {
    var report = FeedReport()
    report.name = Feed.main
    report.dataSource = dataSource
    report.polarPattern = polarPattern
    report.inputOrientation = inputOrientation
    report.look = look
    report.gainDB = gainDB
    report.highPassHz = highPassHz
    report.muted = muted
    report.outputs = levels.outputs
    report.isHeard = true
    return report
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
