import Acoustics
import FoundationEssentials
import JackClient
import Messages
import Text

/// The present values, as subscribers and set methods without arguments get them.
extension Processor {
  /// The whole state, one message per path. Those of set methods have the path of the method.
  package var stateMessages: [OSCMessage] {
    func name(_ path: String?) -> OSCMessage.Argument {
      .string(path?.lastPathComponent.printable ?? "")
    }
    return Change.Key.allCases.map {
      OSCMessage("/pinna/set/\($0.rawValue)", [inForce.value(of: $0).argument])
    } + [
      OSCMessage("/pinna/preset/use", [.string(inForce.preset)]),
      OSCMessage("/pinna/record", [SettingValue.flag(state.take != nil).argument]),
      OSCMessage("/pinna/record/armed", [SettingValue.flag(state.kind == .armed).argument]),
      OSCMessage("/pinna/record/take", [name(state.take?.take.path)]),
      OSCMessage("/pinna/play/take", [name(state.playback?.player.path)]),
      OSCMessage("/pinna/server", [.string(serverState.rawValue)]),
    ]
      + wanted.feeds.flatMap { feed in
        Change.Key.allCases.compactMap { key in
          feed.value(of: key).map {
            OSCMessage("/pinna/feed/\(feed.name)/set/\(key.rawValue)", [$0.argument])
          }
        }
      }
  }

  /// What is sent many times a second: levels and, where they are looked for, talkers. Empty outside a graph.
  package var levelsMessages: [OSCMessage] {
    guard let readings = client?.readings, !readings.levels.isEmpty else { return [] }
    return [levelsMessage(readings), talkersMessage(readings)].compactMap(\.self)
  }

  /// Levels over 300 ms in dB relative to full scale: microphones in channel order, then left and right, then the outputs of
  /// other feeds.
  private func levelsMessage(_ readings: Readings) -> OSCMessage {
    OSCMessage(
      "/pinna/levels",
      readings.levels.map { .float(Float(StatusReport.NamedLevel.decibels($0.rms))) }
        + feedLevels(readings).map { .float(Float($0.rmsDB)) })
  }

  /// The answer to `/pinna/levels`.
  package var levels: StatusReport.Levels {
    let readings = client?.readings ?? Readings()
    var levels = StatusReport.Levels(readings, correlation: client?.correlation)
    if !wanted.feeds.isEmpty { levels.feeds = feedLevels(readings) }
    return levels
  }
}

extension Setting {
  /// A value of a feed, or of `main`.
  /// - Throws: if there is no such feed, or the value belongs to all.
  package func value(of key: Change.Key, feed name: String) throws -> SettingValue {
    if Feed.isMain(name) { return value(of: key) }
    guard let value = try feed(named: name).value(of: key) else { throw FeedWords.notOfFeeds(key.rawValue) }
    return value
  }

  package func value(of key: Change.Key) -> SettingValue {
    var main = Feed(name: Feed.main, selection: selection, gain: gain, highPass: highPass)
    main.muted = muted
    if let value = main.value(of: key) { return value }
    return switch key {
    case .output: .word(output.rawValue)
    case .listen: .word(listening ?? "off")
    case .adapt: adaptation > 0 ? .number(adaptation) : .word("off")
    case .input, .dataSource, .pattern, .orientation, .look, .roll, .yaw, .follow, .gain, .highPass, .mute:
      .word(device.uid)
    }
  }
}
