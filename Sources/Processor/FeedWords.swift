import Acoustics
import Messages

/// What is said of a feed, as pairs of word and value: what `pinna set` changes of `main`, and a format.
package struct FeedWords {
  private enum Format: String, NamedWord {
    case stereo, mono, ambix
    static let kind = "format"
  }

  private var changes: [Change] = []
  private var format: Format?
  private var order: Int?

  /// - Throws: for a word or value that no feed has.
  package init(_ words: ArraySlice<String>) throws {
    for at in stride(from: words.startIndex, to: words.endIndex - 1, by: 2) {
      let value = words[at + 1]
      switch words[at].lowercased() {
      case "format": format = try Format(word: value)
      case "order":
        guard let number = value.decimal.flatMap({ Int(exactly: $0) }), (1...4).contains(number) else {
          throw Failure(.usage, "the order \(value.quoted) is not usable; give a whole number from 1 to 4")
        }
        order = number
      default:
        let change = try Change(Change.Key(word: words[at]), value)
        switch change {
        case .dataSource, .pattern, .orientation, .gain, .highPass, .mute: changes.append(change)
        case .preset, .input, .output, .listen:
          throw Self.notOfFeeds(words[at])
        }
      }
    }
    if order != nil, format == nil { format = .ambix }
    if order != nil, format != .ambix {
      throw Failure(
        .usage, "an order belongs to the format ambix; give --format ambix, or leave the order out")
    }
  }

  package static func notOfFeeds(_ word: String) -> Failure {
    Failure(.usage, "\(word) is no setting of a feed: it belongs to all; leave the feed out")
  }

  /// - Throws: `UnknownWord` for a data source that `device` does not have.
  func apply(to feed: inout Feed, of device: Device) throws {
    for change in changes { try feed.apply(change, of: device) }
    let source = try device.dataSource(named: feed.selection.dataSource)
    let names = changes.contains { if case .pattern = $0 { true } else { false } }
    switch format {
    case .ambix: feed.selection.polarPattern = .ambisonics(order: order ?? 1) ?? .ambix1
    case .stereo: feed.selection.polarPattern = .stereo
    case .mono where feed.selection.polarPattern.isOriented && !names:
      feed.selection.polarPattern = source.monoPattern
    case .mono: break
    case nil:
      if !names, !feed.isOffered(by: source) { feed.selection.polarPattern = source.defaultPolarPattern }
    }
    if feed.selection.polarPattern == .stereo, !source.stereoOrientations.isEmpty,
      !source.stereoOrientations.contains(feed.selection.inputOrientation),
      !changes.contains(where: { if case .orientation = $0 { true } else { false } })
    {
      feed.selection.inputOrientation = source.stereoOrientations[0]
    }
  }
}

extension Feed {
  /// - Throws: `UnknownWord` for a data source that `device` does not have.
  fileprivate mutating func apply(_ change: Change, of device: Device) throws {
    switch change {
    case .dataSource(let name): selection.dataSource = try device.dataSource(named: name).name
    case .pattern(let pattern): selection.polarPattern = pattern
    case .orientation(let orientation): selection.inputOrientation = orientation
    case .gain(let gain): self.gain = gain
    case .highPass(let highPass): self.highPass = highPass
    case .mute(let isOn): muted = isOn
    case .preset, .input, .output, .listen: break
    }
  }

  fileprivate func isOffered(by source: DataSource) -> Bool {
    selection.polarPattern.ambisonicsOrder != nil || source.polarPatterns.contains(selection.polarPattern)
  }

  /// The same on another device, as far as that offers it.
  func moved(to device: Device) -> Feed {
    var feed = self
    let source = (try? device.dataSource(named: selection.dataSource)) ?? device.dataSources[0]
    feed.selection.dataSource = source.name
    if !isOffered(by: source) { feed.selection.polarPattern = source.defaultPolarPattern }
    return feed
  }
}
