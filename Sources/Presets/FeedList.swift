import Acoustics
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
  static func text(of feeds: [Feed]) -> String {
    guard !feeds.isEmpty else { return "" }
    let lines = feeds.map { feed in
      let pattern =
        feed.selection.polarPattern.ambisonicsOrder.map { "format: ambix, order: \($0)" }
        ?? "polarPattern: \(feed.selection.polarPattern.rawValue)"
      let directions = feed.selection.directionText.map { $0 + ", " }.joined()
      return
        "  \(yamlString(feed.name)): {dataSource: \(yamlString(feed.selection.dataSource)), \(pattern), \(directions)"
        + "inputOrientation: \(feed.selection.inputOrientation.rawValue), gain: \(feed.gain.value), "
        + "highPass: \(feed.highPass.word)}\n"
    }
    return "feeds:\n" + lines.joined()
  }
}

extension Selection {
  /// Where it looks, how it is turned and what it follows, as entries of a preset; none for what is not said.
  var directionText: [String] {
    [
      effectiveLook.map { "look: [\($0.word)]" }, roll.map { "roll: \($0.plain)" },
      yaw.map { "yaw: \($0.plain)" },
      followed.map { "follow: [\($0.map(\.rawValue).joined(separator: ", "))]" },
    ].compactMap(\.self)
  }
}

extension YAMLReader {
  /// Reads a group of feeds by name.
  /// - Parameter main: the preset's selection.
  public func feeds(of device: Device, main: Selection) throws(DescriptionError) -> [Feed] {
    var feeds: [Feed] = []
    for (name, value) in try entries() {
      let feed = try value.feed(named: name, of: device, main: main)
      if let obstacle = FeedNames.obstacle(to: feed, among: feeds, of: device) {
        throw value.failure("is not possible: \(obstacle)")
      }
      feeds.append(feed)
    }
    return feeds
  }

  private func feed(named name: String, of device: Device, main: Selection) throws(DescriptionError) -> Feed {
    let fields = try fields([
      "dataSource", "polarPattern", "inputOrientation", "look", "roll", "yaw", "follow", "gain", "highPass",
      "format", "order",
    ])
    let source =
      if let given = try fields.optional("dataSource") {
        try given.dataSource(of: device)
      } else {
        device.dataSources.first { $0.name == main.dataSource } ?? device.dataSources[0]
      }
    var selection = main
    selection.dataSource = source.name
    selection.look = nil
    selection.pose = try fields.pose(otherwise: main.pose)
    if let given = try fields.optional("follow")?.followed() { selection.follows = given }
    let pattern = try fields.optional("polarPattern")?.word(PolarPattern.self)
    let orientation = try fields.optional("inputOrientation")?.word(InputOrientation.self)
    let look = try fields.optional("look")?.look()
    let (format, order) = (try fields.optional("format")?.string(), try fields.optional("order")?.string())
    do {
      try FeedPattern(format: format, order: order, pattern: pattern, orientation: orientation, look: look)
        .apply(to: &selection, of: source)
      try device.check(selection)
    } catch { throw failure("is not possible: \(error)") }
    let gain = try fields.optional("gain")?.number(in: Decibels.outputGains, unit: "dB") ?? 0
    return Feed(
      name: name, selection: selection, gain: Decibels(gain),
      highPass: try fields.optional("highPass")?.highPass() ?? .off)
  }
}
