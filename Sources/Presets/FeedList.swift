import Acoustics
import Settings
import Text

/// Reads and writes the feeds of a preset file.
///
/// ```yaml
/// feeds:
///   anna: {dataSource: Left, polarPattern: cardioid, gain: -3, highPass: 80}
///   hall: {format: stereo}
///   room: {format: ambix, order: 1}
/// ```
///
/// What a feed does not say, it has from the preset: data source, orientation, and the pattern as far as its data source
/// offers it.
enum FeedList {
  static func text(of feeds: [FeedSetting]) -> String {
    guard !feeds.isEmpty else { return "" }
    return "feeds:\n"
      + feeds.map { "  \(yamlString($0.name)): {\($0.entries.joined(separator: ", "))}\n" }.joined()
  }
}

extension FeedSetting {
  /// Its values as entries of a preset, in the order of the rows; of what says nothing only what every preset has.
  var entries: [String] {
    SettingKey.ofFeeds.compactMap { key in
      guard let row = key.row.feed, let name = row.yaml else { return nil }
      let value = row.value(reported)
      // Every preset has said whether there is a high-pass.
      if value == row.unsaid, key != .highPass { return nil }
      switch value {
      case .word where key == .pattern && !isMain:
        let order = selection.polarPattern.ambisonicsOrder
        return order.map { "format: ambix, order: \($0)" } ?? "\(name): \(value.word)"
      case .words(let words): return "\(name): [\(words.joined(separator: ", "))]"
      case .look: return "\(name): [\(value.word)]"
      case .word
      where key == .dataSource || key == .frame || key == .part && !FeedPart.words.contains(value.word):
        return "\(name): \(yamlString(value.word))"
      case .off, .number, .flag, .word: return "\(name): \(value.word)"
      }
    }
  }
}

extension YAMLFields {
  /// The values of the rows, of what is there.
  /// - Parameter device: knows the data sources.
  func values(of device: Device) throws(DescriptionError) -> [SettingKey: SettingValue] {
    var found: [SettingKey: SettingValue] = [:]
    for key in SettingKey.ofFeeds {
      guard let name = key.row.feed?.yaml, let reader = optional(name) else { continue }
      found[key] =
        key == .dataSource ? .word(try reader.dataSource(of: device).name) : try reader.value(of: key.row)
    }
    return found
  }
}

extension YAMLReader {
  /// Reads a group of feeds by name.
  /// - Parameter main: the preset's.
  public func feeds(of device: Device, main: FeedSetting) throws(DescriptionError) -> [FeedSetting] {
    var feeds: [FeedSetting] = []
    for (name, value) in try entries() {
      let feed = try value.feed(named: name, of: device, main: main.selection)
      if let obstacle = FeedNames.obstacle(to: feed, among: feeds, of: device) {
        throw value.failure("is not possible: \(obstacle)")
      }
      feeds.append(feed)
    }
    return feeds
  }

  private func feed(named name: String, of device: Device, main: Selection) throws(DescriptionError)
    -> FeedSetting
  {
    let fields = try fields(SettingKey.ofFeeds.compactMap(\.row.feed?.yaml) + ["format", "order"])
    let values = try fields.values(of: device)
    var selection = main
    selection.look = nil
    if values[.dataSource] == nil, (try? device.dataSource(named: main.dataSource)) == nil {
      selection.dataSource = device.dataSources[0].name
    }
    var feed = FeedSetting(name: name, selection)
    let (format, order) = (try fields.optional("format")?.string(), try fields.optional("order")?.string())
    do {
      let pairs = [("format", format), ("order", order)].flatMap { key, word in word.map { [key, $0] } ?? [] }
      let words = values.flatMap { [$0.key.rawValue, $0.value.word] } + pairs
      try FeedWords(words[...]).apply(to: &feed, of: device)
      try device.check(feed.selection)
    } catch { throw failure("is not possible: \(error)") }
    return feed
  }

  /// Reads a value of a row.
  func value(of row: SettingRow) throws(DescriptionError) -> SettingValue {
    switch row.kind {
    case .number(let range, let unit, let hasOff):
      if hasOff, (try? string().lowercased()) == "off" { return .off }
      let number = try number(
        in: range, unit: hasOff ? [unit, "or off"].filter { !$0.isEmpty }.joined(separator: ", ") : unit)
      return hasOff && number == 0 ? .off : .number(number)
    case .flag: return .flag(try word(Switch.self) == .on)
    case .word(_, let read), .text(_, let read):
      let text = try string()
      do { return .word(try read(text)) } catch { throw failure("has an \(error)") }
    case .name: return .word(try string())
    case .look: return .look(try look())
    case .follow:
      let followed = try followed()
      return followed.isEmpty ? .off : .words(followed.sorted().map(\.rawValue))
    }
  }
}
