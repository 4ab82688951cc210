import Acoustics
import Messages

/// What is said of a feed, as pairs of word and value: what `pinna set` changes of `main`, and a format.
package struct FeedWords {
  private var changes: [Change] = []
  private let pattern: FeedPattern

  /// - Throws: for a word or value that no feed has.
  package init(_ words: ArraySlice<String>) throws {
    var (format, order): (String?, String?)
    var (named, orientation): (PolarPattern?, InputOrientation?)
    var look: Look??
    for at in stride(from: words.startIndex, to: words.endIndex - 1, by: 2) {
      let value = words[at + 1]
      switch words[at].lowercased() {
      case "format": format = value
      case "order": order = value
      default:
        let change = try Change(Change.Key(word: words[at]), value)
        switch change {
        case .pattern(let pattern): named = pattern
        case .orientation(let given): orientation = given
        case .look(let given): look = .some(given)
        case .dataSource, .gain, .highPass, .mute, .roll, .yaw, .follow: changes.append(change)
        case .preset, .input, .adapt, .output, .listen:
          throw Self.notOfFeeds(words[at])
        }
      }
    }
    do {
      pattern = try FeedPattern(
        format: format, order: order, pattern: named, orientation: orientation, look: look)
    } catch let fault as FeedPattern.Fault { throw Failure(.usage, fault.description) }
  }

  package static func notOfFeeds(_ word: String) -> Failure {
    Failure(.usage, "\(word) is no setting of a feed: it belongs to all; leave the feed out")
  }

  /// - Throws: `UnknownWord` for a data source that `device` does not have.
  func apply(to feed: inout Feed, of device: Device) throws {
    for change in changes { try feed.apply(change, of: device) }
    pattern.apply(to: &feed.selection, of: try device.dataSource(named: feed.selection.dataSource))
  }
}

extension Feed {
  fileprivate mutating func apply(_ change: Change, of device: Device) throws {
    switch change {
    case .dataSource(let name):
      selection.dataSource = try device.dataSource(named: name).name
      selection.look = nil
    case .gain(let gain): self.gain = gain
    case .highPass(let highPass): self.highPass = highPass
    case .mute(let isOn): muted = isOn
    case .roll, .yaw, .follow: try selection.apply([change], of: device)
    case .pattern, .orientation, .look, .preset, .input, .adapt, .output, .listen: break
    }
  }

  /// The same on another device, as far as that offers it.
  func moved(to device: Device) -> Feed {
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
