import Acoustics
import Messages

/// What keys change. Each has a row in the view, where a refusal appears, and at most one request under way.
package enum Row: String, CaseIterable, Hashable, Sendable {
  case feed, source, pattern, orientation, look, gain, highPass, adapt, mute, preset, record, marker, listen

  package struct Words {
    let title: String
    /// Of its row.
    let key: String
    /// Of the help.
    let keys: String
    package let effect: String
  }

  /// What its row and the help say.
  package var words: Words {
    switch self {
    case .feed:
      Words(title: "Feed", key: "f", keys: "f F", effect: "next or previous feed, which d to m change")
    case .source: Words(title: "Source", key: "d", keys: "d D", effect: "next or previous data source")
    case .pattern: Words(title: "Pattern", key: "p", keys: "p P", effect: "next or previous polar pattern")
    case .orientation:
      Words(title: "Orientation", key: "o", keys: "o O", effect: "next or previous orientation")
    case .look:
      Words(
        title: "Look", key: "←→", keys: "← → ↑ ↓",
        effect: "turn the look, or yaw and roll, by 5°, Shift 1°; 0: none")
    case .gain: Words(title: "Gain", key: "+-", keys: "+ -", effect: "gain up or down by 1 dB")
    case .highPass:
      Words(title: "High-pass", key: "h", keys: "h H", effect: "high-pass: next or previous corner, or off")
    case .adapt: Words(title: "Adapt", key: "a", keys: "a", effect: "let stereo follow the sound, or not")
    case .mute: Words(title: "Mute", key: "m", keys: "m", effect: "mute, or sound again")
    case .preset: Words(title: "Preset", key: "s", keys: "s", effect: "choose a preset")
    case .record:
      Words(
        title: "Record", key: "r", keys: "r R",
        effect: "start a take, R: also raw; twice within 3 s: end it")
    case .marker:
      Words(title: "Markers", key: "k", keys: "k K", effect: "mark this moment of the take; K: with a text")
    case .listen: Words(title: "Listen", key: "l", keys: "l", effect: "listen to one microphone, or to all")
    }
  }

  /// What it sets of the chosen feed; nil if it does something else.
  var setting: Change.Key? {
    switch self {
    case .source: .dataSource
    case .pattern: .pattern
    case .orientation: .orientation
    case .look: .look
    case .gain: .gain
    case .highPass: .highPass
    case .mute: .mute
    case .feed, .adapt, .preset, .record, .marker, .listen: nil
    }
  }

  /// Whether a newer request of the row takes the place of one that has not been sent.
  var isSetting: Bool { ![.record, .marker].contains(self) }

  /// How long to wait for an answer, or for the next word of progress.
  var seconds: Double { self == .preset || self == .record ? 30 : 10 }
}

/// A request that a key asks for.
package struct Command: Hashable, Sendable {
  package let row: Row
  package let message: OSCMessage

  init(_ row: Row, _ path: String, _ words: String...) {
    self.init(row, OSCMessage(path, words.map { .string($0) }))
  }

  init(_ row: Row, _ message: OSCMessage) {
    self.row = row
    self.message = message
  }
}

/// What came of a request. A value; any thread.
package enum Outcome: Hashable, Sendable {
  case progress(RequestProgress)
  /// `kept`: why the change comes into force later only.
  case done(kept: String?)
  case failed(String)
}
