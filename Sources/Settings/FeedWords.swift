import Acoustics

/// What is said of a feed besides `main`, as pairs of word and value: what `pinna set` changes, and a format.
public struct FeedWords {
  private var changes: [Change] = []
  private let pattern: FeedPattern

  /// - Throws: for a word or value that no feed has.
  public init(_ words: ArraySlice<String>) throws {
    var (format, order): (String?, String?)
    for at in stride(from: words.startIndex, to: words.endIndex - 1, by: 2) {
      let value = words[at + 1]
      switch words[at].lowercased() {
      case "format": format = value
      case "order": order = value
      default:
        let change = try Change(SettingKey(word: words[at]), value)
        guard change.key?.row.feed != nil else { throw Self.notOfFeeds(words[at]) }
        changes.append(change)
      }
    }
    do {
      pattern = try FeedPattern(
        format: format, order: order, pattern: changes[.pattern].flatMap { PolarPattern(rawValue: $0.word) },
        orientation: changes[.orientation].flatMap { InputOrientation(rawValue: $0.word) },
        look: changes[.look].map { if case .look(let look) = $0 { look } else { nil } })
    } catch let fault as FeedPattern.Fault { throw Failure(.usage, fault.description) }
    changes.removeAll { [.pattern, .orientation, .look].contains($0.key) }
  }

  static func notOfFeeds(_ word: String) -> Failure {
    Failure(.usage, "\(word) is no setting of a feed: it belongs to all; leave the feed out")
  }

  /// - Throws: `UnknownWord` for a data source that `device` does not have.
  public func apply(to feed: inout FeedSetting, of device: Device) throws {
    try feed.apply(changes, of: device)
    pattern.apply(to: &feed.selection, of: try device.dataSource(named: feed.selection.dataSource))
  }
}

extension FeedSetting {
  /// The same on another device, as far as that offers it.
  func moved(to device: Device) -> FeedSetting {
    var feed = self
    let source = (try? device.dataSource(named: selection.dataSource)) ?? device.dataSources[0]
    feed.selection.dataSource = source.name
    if feed.selection.dataSource != selection.dataSource { feed.selection.look = nil }
    if selection.polarPattern.ambisonicsOrder == nil, feed.selection.effectiveLook == nil,
      !source.polarPatterns.contains(selection.polarPattern)
    {
      feed.selection.polarPattern = source.defaultPolarPattern
    }
    return feed
  }
}
