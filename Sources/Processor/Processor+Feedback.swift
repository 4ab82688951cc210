import Acoustics
import FoundationEssentials
import JackClient
import Messages
import Settings
import Text

/// The present values, as subscribers and set methods without arguments get them.
extension Processor {
  /// The whole state, one message per path. Those of set methods have the path of the method.
  package var stateMessages: [OSCMessage] {
    func name(_ path: String?) -> OSCMessage.Argument {
      .string(path?.lastPathComponent.printable ?? "")
    }
    return SettingKey.allCases.compactMap { key in
      (try? inForce.value(of: key)).map { OSCMessage("/pinna/set/\(key.rawValue)", [$0.argument]) }
    } + [
      OSCMessage("/pinna/preset/use", [.string(inForce.preset)]),
      OSCMessage("/pinna/record", [SettingValue.flag(state.take != nil).argument]),
      OSCMessage("/pinna/record/armed", [SettingValue.flag(state.kind == .armed).argument]),
      OSCMessage("/pinna/record/take", [name(state.take?.take.path)]),
      OSCMessage("/pinna/play/take", [name(state.playback?.player.path)]),
      OSCMessage("/pinna/server", [.string(serverState.rawValue)]),
    ]
      + wanted.others.flatMap { feed in
        SettingKey.allCases.compactMap { key in
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
      readings.levels.map { .float(Float(StatusFields.NamedLevel.decibels($0.rms))) }
        + feedLevels(readings).map { .float(Float($0.rmsDB)) })
  }

  /// The answer to `/pinna/levels`.
  package var levels: StatusFields.Levels {
    let readings = client?.readings ?? Readings()
    var levels = StatusFields.Levels(readings, correlation: client?.correlation)
    if !wanted.others.isEmpty { levels.feeds = feedLevels(readings) }
    return levels
  }
}
